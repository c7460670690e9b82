// The tree of queues: keys, and a scroll bar for all rows although the page has a part of them.

// wantedFrom is the first row of the part that should be loaded, if the rows from..from+count are there and first..last are in sight; null: it is.
export function wantedFrom(first, last, from, count, total) {
  const margin = 40;
  const missingAbove = from > 0 && first < from + margin;
  const missingBelow = from + count < total && last > from + count - margin;
  if (!missingAbove && !missingBelow) return null;
  const wanted = Math.max(0, Math.min(first - 80, total - 1));
  return wanted === from ? null : wanted;
}

const scroller = () => document.querySelector('.scroll.tree');

function heightOf(box) {
  const row = box.querySelector('[data-key]');
  return row ? row.getBoundingClientRect().height : 0;
}

// spacer is an empty row as high as the rows that are not on the page.
function spacer(body, name, height) {
  let row = body.querySelector('.' + name);
  if (!row) {
    row = document.createElement('tr');
    row.className = name;
    row.setAttribute('aria-hidden', 'true');
    row.append(document.createElement('td'));
    if (name === 'before') body.prepend(row);
    else body.append(row);
  }
  row.style.height = height + 'px';
  row.hidden = height === 0;
}

// fitTree makes the tree as high as all its rows.
export function fitTree() {
  const box = scroller();
  const body = box?.querySelector('[data-rows]');
  if (!body) return;
  const height = heightOf(box);
  const from = Number(box.dataset.from);
  const count = body.querySelectorAll(':scope > [data-key]').length;
  spacer(body, 'before', from * height);
  spacer(body, 'after', Math.max(0, Number(box.dataset.total) - from - count) * height);
  if (!body.querySelector('[tabindex="0"]')) body.querySelector('[data-key]')?.setAttribute('tabindex', '0');
}

function focusRow(row) {
  if (!row?.dataset?.key) return;
  row.parentElement.querySelector('[tabindex="0"]')?.setAttribute('tabindex', '-1');
  row.setAttribute('tabindex', '0');
  row.focus();
}

function parentOf(row) {
  const level = Number(row.ariaLevel ?? row.getAttribute('aria-level'));
  let above = row.previousElementSibling;
  while (above && !(Number(above.getAttribute('aria-level')) < level && above.dataset.key !== undefined)) above = above.previousElementSibling;
  return above;
}

function pressed(event) {
  const row = event.target.closest?.('.tree [data-key]');
  if (!row || event.target !== row || event.ctrlKey || event.metaKey || event.altKey) return;
  const folded = row.getAttribute('aria-expanded');
  const toggle = row.querySelector('a.toggle');
  const step = {
    ArrowDown: () => focusRow(row.nextElementSibling),
    ArrowUp: () => focusRow(row.previousElementSibling),
    ArrowRight: () => (folded === 'false' ? toggle.click() : focusRow(row.nextElementSibling)),
    ArrowLeft: () => (folded === 'true' ? toggle.click() : focusRow(parentOf(row))),
    Home: () => focusRow(row.parentElement.querySelector('[data-key]')),
    End: () => focusRow([...row.parentElement.querySelectorAll('[data-key]')].at(-1)),
    Enter: () => row.querySelector('a[title]').click(),
  }[event.key];
  if (!step) return;
  event.preventDefault();
  step();
}

// listenToTree calls load with the first row of a part that comes into sight.
export function listenToTree(load) {
  document.addEventListener('keydown', pressed);
  let waiting = false;
  document.addEventListener('scroll', (event) => {
    if (waiting || !event.target.matches?.('.scroll.tree')) return;
    waiting = true;
    requestAnimationFrame(() => {
      waiting = false;
      const box = scroller();
      const height = box && heightOf(box);
      if (!height) return;
      const count = box.querySelectorAll('[data-rows] > [data-key]').length;
      const first = Math.floor(box.scrollTop / height);
      const wanted = wantedFrom(first, first + Math.ceil(box.clientHeight / height), Number(box.dataset.from), count, Number(box.dataset.total));
      if (wanted !== null) load(wanted);
    });
  }, { capture: true, passive: true });
}
