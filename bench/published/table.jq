# SPDX-License-Identifier: GPL-2.0-only
# The table of bench/reproduce, of what rows.jq made: a line per row, its cells apart by tabs.

def grouped:
	tostring | [while(length > 0; .[:-3]) | .[-3:]] | reverse | join(",");
def count: if . == null then "-" else round | grouped end;
def fixed($digits):
	if . == null then "-"
	else (. * pow(10; $digits) | round | tostring) as $text
	| (if ($text | length) <= $digits then "0" * ($digits + 1 - ($text | length)) + $text else $text end)
	| .[:-$digits] + "." + .[-$digits:]
	end;

["test", "kernel", "pages", "scale", "IPIs", "kernel's own", "published", "ratio", "fall %", "published %", "emulated s"],
(.[] | [
	.test,
	.half,
	(.pages_done | count),
	(if .scale == null then .status elif .scale == 1 then "full" else .scale | fixed(4) end),
	(.remote_ipis | count),
	(.kernel_tlb_interrupts | count),
	(.published_ipis | count) + (if .published_from == "law" then " (law)" else "" end),
	(.ratio | fixed(3)) + (if .ratio != null and .ratio_is == "per page" then " per page" else "" end),
	(.fall_percent | fixed(2)),
	(.published_fall_percent | fixed(2)),
	(if .elapsed_ms == null then "-" else .elapsed_ms / 1000 | fixed(1) end)
])
| @tsv
