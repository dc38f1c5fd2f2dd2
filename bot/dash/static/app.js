// What pages do beyond being read: times in the reader's zone, and a word
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

  function ready(root) { times(root); }

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
})();
