/** Adds lines to the live view as they come. All of their text is that of strangers, so it becomes text alone. */
/// <reference lib="dom" />
/// <reference lib="dom.iterable" />

type Line = {
  position: number;
  type: string;
  at: number;
  emailId: string | null;
  to: string | null;
  from: string | null;
  reply: string | null;
};
type News = { topic: string; lines: Line[]; omitted: number; isCut: boolean };

/** Maximum number of lines on the page: the oldest ones make room. */
const MAX_LINES = 200;

const view = document.querySelector<HTMLElement>('#tail-view');
const table = document.querySelector<HTMLTableElement>('#tail');
const state = document.querySelector<HTMLElement>('#tail-state');
const left = document.querySelector<HTMLElement>('#tail-omitted');
const button = document.querySelector<HTMLButtonElement>('#tail-pause');
let position = Number(view?.dataset['position'] ?? 0);
let omitted = 0;
let isCut = false;
let isPaused = false;
let connection: 'connected' | 'lost' = 'lost';

/** Returns the position behind the lines that the page has. */
export function tailPosition(): number {
  return position;
}

/** Shows whether the stream is there. */
export function showTailState(next: typeof connection): void {
  connection = next;
  const text = state?.dataset[isPaused ? 'paused' : connection] ?? '';
  // A screen reader would read out a text that is set again, even when it is the same.
  if (state && state.textContent !== text) state.textContent = text;
}

/** Adds the new lines of a frame on top. While the view is paused, they are counted as left out. */
export function addLines({ topic, lines, omitted: more, isCut: cut }: News): void {
  const body = table?.tBodies[0];
  if (!view || !body || topic !== view.dataset['topic']) return;
  const fresh = lines.filter((line) => line.position > position);
  position = Math.max(position, ...fresh.map((line) => line.position));
  omitted += more + (isPaused ? fresh.length : 0);
  isCut ||= cut;
  if (!isPaused) {
    body.prepend(...fresh.reverse().map((line) => rowOf(view, line)));
    while (body.rows.length > MAX_LINES) body.deleteRow(-1);
    if (fresh.length > 0) document.querySelector('#content .empty')?.remove();
  }
  if (!left || (omitted === 0 && !isCut)) return;
  left.hidden = false;
  const { some = '', more: uncounted = '' } = left.dataset;
  const count = new Intl.NumberFormat(document.documentElement.lang).format(omitted);
  left.textContent = isCut ? `${some} ${count}. ${uncounted}` : `${some} ${count}`;
}

function rowOf({ dataset }: HTMLElement, { type, at, emailId, to, from, reply }: Line): HTMLElement {
  const names: Record<string, string> = JSON.parse(dataset['names'] ?? '{}');
  const row = document.createElement('tr');
  const name = Object.hasOwn(names, type) ? (names[type] ?? type) : type;
  row.append(cellOf(timeOf(at, dataset['zone'] ?? 'UTC')));
  row.append(
    cellOf(emailId === null ? name : linkTo((dataset['emails'] ?? '') + encodeURIComponent(emailId), name)),
  );
  for (const text of [to, from, reply]) row.append(cellOf(foreign(text)));
  return row;
}

function cellOf(content: string | Node): HTMLElement {
  const cell = document.createElement('td');
  cell.append(content);
  return cell;
}

function timeOf(at: number, timeZone: string): HTMLElement {
  const time = document.createElement('time');
  time.dateTime = new Date(at).toISOString();
  time.textContent = new Intl.DateTimeFormat(document.documentElement.lang, {
    timeStyle: 'medium',
    timeZone,
  }).format(at);
  return time;
}

function linkTo(href: string, text: string): HTMLElement {
  const link = document.createElement('a');
  link.href = href;
  link.textContent = text;
  return link;
}

function foreign(text: string | null): HTMLElement {
  const element = document.createElement('bdi');
  element.className = 'foreign';
  element.dir = 'auto';
  element.textContent = text;
  return element;
}

if (button) {
  button.hidden = false;
  button.addEventListener('click', () => {
    isPaused = !isPaused;
    const label = button.textContent ?? '';
    button.textContent = button.dataset['other'] ?? '';
    button.dataset['other'] = label;
    showTailState(connection);
  });
}
