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

  // The page is fetched again at a change, at most twice a second, and once more after
  // the last of many.
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

  // A connection that breaks is made again by the browser, which says what it heard
  // last; one that was refused is not, so it is asked for anew.
  let broken = false;
  function listen() {
    const live = document.getElementById('live');
    if (!live) return;
    const source = new EventSource(live.dataset.events);
    for (const name of live.dataset.names.split(' ').concat('reset')) source.addEventListener(name, refresh);
    source.onopen = () => {
      link('Live');
      if (broken) refresh(); // what came meanwhile is shown
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
