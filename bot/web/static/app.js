// Shows times in the reader's zone, loads the page again after events, and shows the state of the
// connection. Pages are complete without it.
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

  // What a reader has opened stays open when the page is loaded again.
  Idiomorph.defaults.callbacks.beforeAttributeUpdated = (name, at) => !(name === 'open' && at.tagName === 'DETAILS');
  document.addEventListener('DOMContentLoaded', () => ready(document));
  document.addEventListener('htmx:afterSettle', () => ready(document));

  // The page is loaded again after a change, at most twice a second, and once more after the last of
  // many changes.
  let waits = false, again = false;
  function refresh() {
    if (waits) { again = true; return; }
    waits = true;
    htmx.trigger('#main', 'refresh');
    setTimeout(() => {
      waits = false;
      if (again) { again = false; refresh(); }
    }, 500);
  }

  // The browser reconnects a broken stream with the id of the last event. It does not retry a rejected
  // one, so this does.
  let broken = false;
  function listen() {
    const live = document.getElementById('live');
    if (!live) return;
    const source = new EventSource(live.dataset.events);
    for (const name of live.dataset.names.split(' ').concat('reset')) source.addEventListener(name, refresh);
    source.onopen = () => {
      link('Live');
      if (broken) refresh(); // show what happened meanwhile
      broken = false;
    };
    source.onerror = () => {
      broken = true;
      link('Not connected; trying again');
      if (source.readyState === EventSource.CLOSED) setTimeout(listen, 2000 + 3000 * Math.random());
    };
    addEventListener('pagehide', () => source.close(), { once: true });
  }
  document.addEventListener('DOMContentLoaded', listen);
  addEventListener('pageshow', (e) => { if (e.persisted) { listen(); refresh(); } });
})();
