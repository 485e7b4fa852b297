# SPDX-License-Identifier: GPL-2.0-only
# The rows of bench/reproduce: what was measured beside what was published.
# Input: an array of { "workload", "half", "result" or null, "why" }, in the order of the table.
# Arguments: $published (x1.json), $cpus (a number).

def published_of($test; $half):
	($test.remote_ipis[$cpus | tostring][$half]) as $figure
	| if $figure then { ipis: $figure, pages: $test.pages, from: "published" }
	  elif $half == "before" then
		{ ipis: ($test.pages / $test.pages_per_flush * ($cpus - 1) | round), pages: $test.pages, from: "law" }
	  else { ipis: null, pages: $test.pages, from: "nothing published" }
	  end;

def divided($a; $b): if $a == null or $b == null or $b == 0 then null else $a / $b end;

# Of a run at the full number of pages the counts are compared, of a scaled one those per page.
def ratio($ours; $theirs; $scale):
	if $scale == 1 then divided($ours.ipis; $theirs.ipis)
	else divided(divided($ours.ipis; $ours.pages); divided($theirs.ipis; $theirs.pages))
	end;

map(
	. as $half
	| ($published[0].workloads[] | select(.name == $half.workload)) as $test
	| published_of($test; .half) as $theirs
	| .result.workloads[0].runs[0] as $run
	| ($run.values // {}) as $values
	| (.result.workloads[0].parameters.pages) as $asked
	| { ipis: $values.remote_ipis, pages: $values.pages_done } as $ours
	| divided($asked; $test.pages) as $scale
	| {
		test: $test.what,
		workload,
		half,
		status: (if .result then $run.status else "not run" end),
		why: (.why // $run.reason),
		pages_asked: $asked,
		pages_done: $ours.pages,
		scale: $scale,
		remote_ipis: $ours.ipis,
		kernel_tlb_interrupts: $values.kernel_tlb_interrupts,
		ipis_per_page: divided($ours.ipis; $ours.pages),
		published_ipis: $theirs.ipis,
		published_pages: $theirs.pages,
		published_from: $theirs.from,
		ratio: ratio($ours; $theirs; $scale),
		ratio_is: (if $scale == 1 then "of the counts" else "per page" end),
		elapsed_ms: $values.elapsed_ms,
		emulated: .result.environment.machine.guest.emulated
	}
)
| . as $rows
| map(. as $row
	| ([$rows[] | select(.workload == $row.workload and .half == "before")][0]) as $before
	| if .half == "before" then .fall_percent = null | .published_fall_percent = null
	  else
		.fall_percent = (divided(.ipis_per_page; $before.ipis_per_page) | if . == null then null else (1 - .) * 100 end)
		| .published_fall_percent =
			(divided(.published_ipis; $before.published_ipis) | if . == null then null else (1 - .) * 100 end)
	  end)
