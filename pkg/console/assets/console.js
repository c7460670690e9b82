// Keeps the page as the cluster is: takes the changes that the server sends, and changes parts of the page instead of loading it again.
// Without this script the pages show one moment, and all links work.

import { listenToTree, fitTree } from './tree.js';

let events = null;
let number = document.getElementById('main').dataset.number;

// here is the address of the page in another format.
function here(pairs) {
  const url = new URL(location.href);
  for (const [key, value] of Object.entries(pairs)) url.searchParams.set(key, value);
  return url;
}

// parse makes elements of HTML that the server has made. Nothing in it runs.
function parse(html) {
  const template = document.createElement('template');
  template.innerHTML = html;
  return template.content;
}

function rowsOf(body) {
  return new Map([...body.children].filter((row) => row.dataset.key !== undefined).map((row) => [row.dataset.key, row]));
}

// keepFocus does a change of the page, and gives the focus back to what has taken the place of the focused element.
function keepFocus(change) {
  const focused = document.activeElement;
  const row = focused?.closest('[data-key]');
  const body = row?.parentElement;
  const place = row ? [...row.querySelectorAll('a')].indexOf(focused) : -1;
  const section = focused?.closest('section')?.id;
  change();
  if (!row || !section || document.activeElement === focused) return;
  const again = rowsOf(document.getElementById(section)?.querySelector('[data-rows]') ?? body).get(row.dataset.key);
  if (!again) return;
  const target = place < 0 ? again : again.querySelectorAll('a')[place] ?? again;
  target.focus({ preventScroll: true });
}

function changeRows(section, change) {
  const body = section.querySelector('[data-rows]');
  if (!body) return;
  const rows = rowsOf(body);
  for (const [key, html] of Object.entries(change.set ?? {})) {
    const fresh = parse(html).firstElementChild;
    rows.get(key)?.replaceWith(fresh);
    rows.set(key, fresh);
  }
  if (!change.keys) return;
  const kept = new Set(change.keys);
  for (const [key, row] of rows) if (!kept.has(key)) row.remove();
  let next = body.querySelector('[data-key]');
  for (const key of change.keys) {
    const row = rows.get(key);
    if (row === next) next = next.nextElementSibling;
    else body.insertBefore(row, next ?? body.querySelector('.after'));
  }
}

function apply(change) {
  if (change.reload) {
    location.reload();
    return;
  }
  document.getElementById('now').textContent = change.now;
  say(change.stale ? 'No newer picture: ' + change.stale : '');
  keepFocus(() => {
    for (const [id, html] of Object.entries(change.blocks ?? {})) {
      const section = document.getElementById(id);
      if (section.querySelector('input:focus, textarea:focus')) continue; // somebody is choosing there
      const top = section.querySelector('.scroll')?.scrollTop;
      section.replaceChildren(parse(html));
      fitTree();
      if (top) section.querySelector('.scroll').scrollTop = top;
    }
    for (const [id, rows] of Object.entries(change.rows ?? {})) changeRows(document.getElementById(id), rows);
  });
  fitTree();
}

function say(text) {
  const stale = document.getElementById('stale');
  stale.hidden = text === '';
  if (stale.textContent !== text) stale.textContent = text;
}

// follow takes changes, beginning with those since the moment that the page shows.
function follow() {
  events?.close();
  if ('still' in document.getElementById('main').dataset) return;
  events = new EventSource(here({ format: 'events', since: number }));
  events.onmessage = (message) => {
    number = message.lastEventId;
    apply(JSON.parse(message.data));
  };
  events.onerror = () => {
    say(events.readyState === EventSource.CLOSED
      ? 'This console has ended, or has another address by now: start kubectl fairway console again.'
      : 'The connection is lost; it is tried again.');
  };
}

// A browser has few connections to one server: a page that nobody sees needs none.
document.addEventListener('visibilitychange', () => {
  if (document.hidden) {
    events?.close();
  } else {
    follow();
  }
});
addEventListener('pagehide', () => events?.close());

let asked = null;

// go shows another address in the place of this page. keep: it is no step of the history.
async function go(address, keep) {
  asked?.abort();
  asked = new AbortController();
  let fresh;
  try {
    const response = await fetch(address, { signal: asked.signal });
    if (!response.ok) throw new Error(response.statusText);
    fresh = new DOMParser().parseFromString(await response.text(), 'text/html');
  } catch (error) {
    if (error.name !== 'AbortError') location.assign(address);
    return;
  }
  if (keep) history.replaceState(null, '', address);
  else history.pushState(null, '', address);
  show(fresh);
}

// show puts the parts of another document in the place of those that differ. What has the focus stays, such as the filter while somebody types.
function show(fresh) {
  const main = fresh.getElementById('main');
  number = main.dataset.number;
  document.getElementById('main').toggleAttribute('data-still', 'still' in main.dataset);
  document.title = fresh.title;
  keepFocus(() => {
    for (const section of main.querySelectorAll(':scope > section[id]')) {
      const old = document.getElementById(section.id);
      if (!old || old.innerHTML === section.innerHTML) continue;
      const typing = old.querySelector('input:focus');
      const input = section.querySelector('input[type=search]');
      const top = old.querySelector('.scroll')?.scrollTop ?? 0;
      if (typing && input) input.replaceWith(typing);
      old.replaceChildren(...section.childNodes);
      typing?.focus();
      fitTree();
      const scroll = old.querySelector('.scroll');
      if (scroll) scroll.scrollTop = top;
    }
  });
  fitTree();
  follow();
}

document.addEventListener('click', (event) => {
  const link = event.target.closest('a[data-here]');
  if (!link || event.button !== 0 || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  go(link.href, false);
});
addEventListener('popstate', () => location.reload());

document.addEventListener('change', (event) => {
  if (event.target.name === 'at') go(here({ at: event.target.value }), true);
});

let typed = 0;
document.addEventListener('input', (event) => {
  if (event.target.name === 'at') document.getElementById('at').textContent = new Date(event.target.value * 1000).toLocaleString();
  if (event.target.name !== 'filter') return;
  clearTimeout(typed);
  typed = setTimeout(() => {
    const url = here({ filter: event.target.value });
    url.searchParams.delete('from');
    go(url, true);
  }, 150);
});

listenToTree((from) => go(here({ from }), true));
fitTree();
if (!document.hidden) follow();
