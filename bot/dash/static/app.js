// What pages do beyond being read: times in the reader's zone, the chart, and a word
// about whether changes are heard. They are whole without it.
'use strict';
(function () {
  const zone = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' });

  function times(root) {
    for (const t of root.querySelectorAll('time[datetime]')) {
      const at = new Date(t.dateTime);
      if (isNaN(at)) continue;
      const text = zone.format(at);
      if (t.textContent !== text) t.textContent = text;
      t.title = at.toISOString();
    }
  }

  const plots = new Map();
  const lines = [['Passed', '--good'], ['Handed back', '--accent'], ['Escalated', '--bad'], ['Recorded only', '--line']];

  function charts(root) {
    const style = getComputedStyle(document.documentElement);
    for (const at of root.querySelectorAll('[data-chart]')) {
      if (at.dataset.shown === at.dataset.chart && at.firstChild) continue;
      const data = JSON.parse(at.dataset.chart);
      at.dataset.shown = at.dataset.chart;
      plots.get(at)?.destroy();
      at.textContent = '';
      if (!data[0].length) continue;
      const bars = uPlot.paths.bars({ size: [0.18, 24] });
      const axis = { stroke: style.getPropertyValue('--text'), grid: { stroke: style.getPropertyValue('--soft') } };
      plots.set(at, new uPlot({
        width: at.clientWidth || 600, height: 220, axes: [axis, axis],
        series: [{}].concat(lines.map(([label, color]) => ({ label, stroke: style.getPropertyValue(color), fill: style.getPropertyValue(color), paths: bars }))),
      }, data, at));
    }
  }

  function ready(root) { times(root); charts(root); }

  function link(text) {
    const at = document.getElementById('link');
    if (at && at.textContent !== text) at.textContent = text;
  }

  // What a reader has opened stays open when the page is fetched again.
  Idiomorph.defaults.callbacks.beforeAttributeUpdated = (name, at) => !(name === 'open' && at.tagName === 'DETAILS');
  document.addEventListener('DOMContentLoaded', () => ready(document));
  document.addEventListener('htmx:afterSettle', () => ready(document));
  let broken = false;
  document.addEventListener('htmx:sseOpen', () => {
    link('Live');
    if (broken) htmx.trigger(document.body, 'reload'); // what came meanwhile is shown
    broken = false;
  });
  document.addEventListener('htmx:sseError', () => { broken = true; link('Not connected; trying again'); });
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => {
    for (const at of document.querySelectorAll('[data-chart]')) delete at.dataset.shown;
    charts(document);
  });
  addEventListener('resize', () => {
    for (const [at, p] of plots) p.setSize({ width: at.clientWidth, height: 220 });
  });
})();
