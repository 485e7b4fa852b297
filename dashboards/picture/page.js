/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Draws a dashboard of Grafana from its JSON and from what Prometheus answers: the kinds of panels and
 * settings that ours use, and no others. input.js, which render writes, holds
 *	input = { server, dashboard, variables, start, end, step }	(seconds)
 */
'use strict';

const unitHeight = 26;
const unitWidth = 46;
const palette = ['#3b7dd8', '#e0722f', '#3f9e4d', '#b13fa0', '#c9a227', '#2aa5a0', '#d04646', '#7a5cc7',
	'#8a6d3b', '#5f8f2f', '#d36fa5', '#4c6b8a'];
const thresholdColors = { green: '#3f9e4d', yellow: '#b98a00', orange: '#d9641f', red: '#d04646' };

/* Numbers as Grafana shows them. */

function withPrefix(value, unit) {
	const prefixes = ['', ' K', ' Mil', ' Bil'];
	let power = 0;

	while (Math.abs(value) >= 1000 && power < prefixes.length - 1) {
		value /= 1000;
		power++;
	}
	return Number(value.toPrecision(3)) + prefixes[power] + unit;
}

function seconds(value) {
	const size = Math.abs(value);

	for (const [unit, factor] of [[' s', 1], [' ms', 1e3], [' µs', 1e6]])
		if (size * factor >= 1)
			return Number((value * factor).toPrecision(3)) + unit;
	return Number((value * 1e9).toPrecision(3)) + ' ns';
}

function format(value, unit) {
	switch (unit) {
	case 'percentunit':
		return Number((value * 100).toPrecision(3)) + '%';
	case 's':
		return seconds(value);
	case 'cps':
		return withPrefix(value, ' c/s');
	case 'short':
		return withPrefix(value, '');
	}
	throw new Error('no such unit here: ' + unit);
}

/* Queries. */

function substitute(query) {
	let text = query.replaceAll('$__rate_interval', 4 * input.step + 's');

	for (const [name, value] of Object.entries(input.variables))
		text = text.replaceAll('$' + name, value);
	return text;
}

async function ask(target) {
	const instant = target.instant;
	const parameters = new URLSearchParams({ query: substitute(target.expr) });

	if (instant)
		parameters.set('time', input.end);
	else
		for (const name of ['start', 'end', 'step'])
			parameters.set(name, input[name]);
	const answer = await fetch(`${input.server}/api/v1/query${instant ? '' : '_range'}?${parameters}`);
	const body = await answer.json();

	if (body.status !== 'success')
		throw new Error(`${target.expr}: ${body.error}`);
	return body.data.result.map(series => ({ target, ...series }));
}

function legend(series) {
	return (series.target.legendFormat || '').replace(/\{\{(\w+)\}\}/g, (_, name) => series.metric[name] || '');
}

/* Panels. */

function element(parent, kind, className, text) {
	const made = parent.appendChild(document.createElement(kind));

	made.className = className || '';
	if (text !== undefined)
		made.textContent = text;
	return made;
}

function statColor(panel, value) {
	const steps = panel.fieldConfig.defaults.thresholds?.steps ?? [];
	const reached = steps.filter(step => step.value === null || value >= step.value).pop();

	return reached ? thresholdColors[reached.color] : '#1f60c4';
}

function drawStat(panel, content, answers) {
	const stat = element(content, 'div', 'stat');
	const mode = panel.options.textMode;

	for (const series of answers) {
		const value = Number(series.value[1]);
		const line = element(stat, 'div', '', mode === 'name' ? legend(series) :
			format(value, panel.fieldConfig.defaults.unit));

		line.style.color = statColor(panel, value);
		if (mode === 'name')
			line.style.fontSize = '15px';
		if (mode === 'value_and_name')
			element(line, 'small', '', legend(series));
	}
}

function axes(panel) {
	const { unit, min, max, custom } = panel.fieldConfig.defaults;
	const grid = { color: '#eceef0' };
	const time = value => new Date(value * 1000).toISOString().slice(11, 16);

	return {
		x: { type: 'linear', min: input.start, max: input.end, grid,
			ticks: { callback: time, maxTicksLimit: 6, maxRotation: 0, font: { size: 10 } } },
		y: { type: custom.scaleDistribution?.type === 'log' ? 'logarithmic' : 'linear',
			min, max, grid, stacked: custom.stacking?.mode === 'normal',
			ticks: { callback: value => format(value, unit), maxTicksLimit: 6, font: { size: 10 } } },
	};
}

function drawTimeseries(panel, content, answers) {
	const { custom } = panel.fieldConfig.defaults;
	const stacked = custom.stacking?.mode === 'normal';
	const datasets = answers.map((series, i) => {
		const color = palette[i % palette.length];
		const values = new Map(series.values.map(([at, value]) => [Number(at), Number(value)]));
		const data = [];

		/* Where there is no sample, the line has a gap. */
		for (let at = input.start; at <= input.end; at += input.step)
			data.push({ x: at, y: values.has(at) ? values.get(at) : NaN });
		return { label: legend(series), data, borderColor: color, borderWidth: 1.3, pointRadius: 0,
			backgroundColor: color + (stacked ? '66' : '18'),
			fill: stacked ? (i ? '-1' : 'origin') : answers.length === 1 };
	});

	new Chart(element(content, 'canvas'), {
		type: 'line',
		data: { datasets },
		options: { animation: false, responsive: true, maintainAspectRatio: false, parsing: false,
			normalized: true, scales: axes(panel), plugins: { legend: { position: 'bottom', align: 'start',
				labels: { boxWidth: 10, boxHeight: 2, font: { size: 10 }, padding: 6 } } } },
	});
}

/* A row for each set of labels; a column for each label that is shown, and for each query. */
function makeTable(panel, answers) {
	const organize = panel.transformations?.find(step => step.id === 'organize')?.options ?? {};
	const several = panel.targets.length > 1;
	const rows = new Map();

	for (const series of answers) {
		const key = JSON.stringify(Object.entries(series.metric).sort());
		const row = rows.get(key) ?? { ...series.metric };

		row[several ? `Value #${series.target.refId}` : 'Value'] = Number(series.value[1]);
		rows.set(key, row);
	}
	const list = [...rows.values()];
	const place = name => organize.indexByName?.[name] ?? 100;
	const columns = [...new Set(list.flatMap(row => Object.keys(row)))]
		.filter(name => !organize.excludeByName?.[name])
		.sort((a, b) => place(a) - place(b) || a.localeCompare(b));

	return { list, columns };
}

function properties(panel, column) {
	const override = panel.fieldConfig.overrides.find(({ matcher }) => matcher.options === column);

	return Object.fromEntries((override?.properties ?? []).map(({ id, value }) => [id, value]));
}

function cell(panel, column, value) {
	const own = properties(panel, column);
	const mapped = own.mappings?.[0].options[value];

	if (value === undefined)
		return '';
	if (mapped)
		return mapped.text;
	return typeof value === 'number' ? format(value, own.unit ?? panel.fieldConfig.defaults.unit) : value;
}

function drawTable(panel, content, answers) {
	const { list, columns } = makeTable(panel, answers);
	const table = element(content, 'table');
	const shown = name => properties(panel, name).displayName ?? name;
	const order = panel.options.sortBy?.[0];
	const head = element(table, 'tr');

	if (order) {
		const by = columns.find(name => shown(name) === order.displayName);

		list.sort((a, b) => (order.desc ? -1 : 1) * ((a[by] ?? 0) - (b[by] ?? 0)));
	}
	for (const name of columns)
		element(head, 'th', name.startsWith('Value') ? 'number' : '', shown(name));
	for (const row of list) {
		const line = element(table, 'tr');

		for (const name of columns)
			element(line, 'td', name.startsWith('Value') ? 'number' : '', cell(panel, name, row[name]));
	}
}

const drawers = { stat: drawStat, timeseries: drawTimeseries, table: drawTable };

async function drawPanel(panel, box) {
	if (panel.type === 'row') {
		element(box, 'h2', '', panel.title);
		return;
	}
	const inside = element(box, 'div', 'inside');

	element(inside, 'h3', '', panel.title);
	const content = element(inside, 'div', 'content');
	const answers = (await Promise.all(panel.targets.map(ask))).flat();

	if (answers.length)
		drawers[panel.type](panel, content, answers);
	else
		element(content, 'div', 'empty', 'No data');
}

async function draw() {
	const grid = document.getElementById('grid');
	let height = 0;

	document.getElementById('title').textContent = input.dashboard.title;
	await Promise.all(input.dashboard.panels.map(panel => {
		const { x, y, w, h } = panel.gridPos;
		const box = element(grid, 'div', 'panel');

		Object.assign(box.style, { left: x * unitWidth + 'px', top: y * unitHeight + 'px',
			width: w * unitWidth + 'px', height: h * unitHeight + 'px' });
		height = Math.max(height, (y + h) * unitHeight);
		return drawPanel(panel, box);
	}));
	grid.style.height = height + 'px';
}

/* What render looks for: how high the page is, or what went wrong. */
draw().then(() => {
	document.body.dataset.height = document.documentElement.scrollHeight;
}, error => {
	document.body.dataset.error = error.message;
});
