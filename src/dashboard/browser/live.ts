/**
 * Script of pages that show something live. All windows of a browser share one stream, because a browser has few connections to a host: Web Locks
 * elect the window that has it, and a BroadcastChannel gives its frames to the others. When that window closes, another one takes over, and goes
 * on behind the last position. Without these parts of a browser, pages ask by themselves.
 */
/// <reference lib="dom" />
/// <reference lib="dom.iterable" />
import { addLines, showTailState, tailPosition } from './tail.ts';
import { followVersion } from './version.ts';

/** Frame of the stream, as windows hand it on. */
type Frame = { event: 'tail' | 'changed' | 'version' | 'lost' | 'connected'; data: string; position: number };
type Message =
  /** A frame for all windows, or for one of them. */
  | { kind: 'frame'; frame: Frame; to?: string }
  /** A window says what it shows; an empty list says that it shows nothing any more. */
  | { kind: 'shows'; tab: string; topics: string[]; position: number }
  /** A window that has taken over asks what others show. */
  | { kind: 'ask' };

/** Name of the lock of the window that has the stream, and of the channel. */
const NAME = 'postrider-live';
/** Time in which windows that open or close at the same time are taken together. */
const TOGETHER_MS = 150;
/** Time after which a stream that was refused is tried again. */
const AGAIN_MS = 30_000;
/** Number of frames that are kept for a window that has just opened, and has missed some while it was loaded. */
const KEPT_FRAMES = 40;
/** Time between two searches for windows that have ended without saying so. */
const SEARCH_MS = 20_000;

const tab = crypto.randomUUID();
const channel = new BroadcastChannel(NAME);
/** Position in the event log that this window has seen. */
let position = tailPosition();

const topicsHere = () => [
  ...new Set(
    [...document.querySelectorAll<HTMLElement>('[data-topic]')].map((one) => one.dataset['topic'] ?? ''),
  ),
];

function post(message: Message): void {
  channel.postMessage(message);
}

/** Shows a frame in this window. */
function show({ event, data, position: at }: Frame): void {
  if (event === 'lost' || event === 'connected') {
    showTailState(event);
    return;
  }
  const parsed = JSON.parse(data);
  if (event === 'version') followVersion(parsed.version);
  if (event === 'tail') addLines(parsed);
  if (event === 'changed')
    for (const part of document.querySelectorAll(`[data-topic="${CSS.escape(parsed.topic)}"]`))
      part.dispatchEvent(new Event('changed'));
  position = Math.max(position, at);
}

/** Leads the windows of the browser: asks what they show, and opens a stream about it. */
function lead(): void {
  const shown = new Map<string, string[]>();
  let stream: EventSource | undefined;
  let asked = '';
  let pause: ReturnType<typeof setTimeout> | undefined;

  const recent: Frame[] = [];

  const tell = (frame: Frame) => {
    recent.push(frame);
    if (recent.length > KEPT_FRAMES) recent.shift();
    post({ kind: 'frame', frame });
    show(frame);
  };
  const state = (event: 'lost' | 'connected') => tell({ event, data: '{}', position });

  function open(): void {
    const topics = [...new Set([...shown.values()].flat())].sort();
    const next = topics.join('\n');
    if (next === asked && stream?.readyState !== EventSource.CLOSED) return;
    asked = next;
    stream?.close();
    stream = undefined;
    if (topics.length === 0) return;
    const query = new URLSearchParams(topics.map((topic) => ['topic', topic]));
    if (position > 0) query.set('after', String(position));
    const opened = new EventSource(`/live?${query}`);
    stream = opened;
    for (const event of ['tail', 'changed', 'version'] as const)
      opened.addEventListener(event, ({ data, lastEventId }) =>
        tell({ event, data, position: Number(lastEventId) || 0 }),
      );
    opened.addEventListener('open', () => state('connected'));
    opened.addEventListener('error', () => {
      state('lost');
      if (opened.readyState === EventSource.CLOSED && opened === stream) again(AGAIN_MS);
    });
  }

  function again(afterMs: number): void {
    clearTimeout(pause);
    pause = setTimeout(open, afterMs);
  }

  function set(from: string, topics: string[]): void {
    if (topics.length > 0) shown.set(from, topics);
    else shown.delete(from);
    again(TOGETHER_MS);
  }

  async function forgetEnded(): Promise<void> {
    const { held = [] } = await navigator.locks.query();
    const alive = new Set(held.map(({ name }) => name));
    for (const one of shown.keys()) if (!alive.has(`${NAME} ${one}`)) set(one, []);
  }

  channel.addEventListener('message', ({ data }: MessageEvent<Message>) => {
    if (data.kind !== 'shows') return;
    const isNew = !shown.has(data.tab);
    set(data.tab, data.topics);
    if (!isNew || stream?.readyState !== EventSource.OPEN) return;
    const connected: Frame = { event: 'connected', data: '{}', position };
    const missed = recent.filter(({ event, position: at }) => event === 'tail' && at > data.position);
    for (const frame of [connected, ...missed]) post({ kind: 'frame', frame, to: data.tab });
  });
  onShown = (topics) => set(tab, topics);
  setInterval(() => void forgetEnded(), SEARCH_MS);
  set(tab, topicsHere());
  post({ kind: 'ask' });
}

/** Passes the topics that this window shows to the stream while this window holds it. */
let onShown: (topics: string[]) => void = () => {};

function tellTopics(topics = topicsHere()): void {
  post({ kind: 'shows', tab, topics, position });
  onShown(topics);
}

channel.addEventListener('message', ({ data }: MessageEvent<Message>) => {
  if (data.kind === 'frame' && (data.to ?? tab) === tab) show(data.frame);
  if (data.kind === 'ask') tellTopics();
});

if (navigator.locks && topicsHere().length > 0) {
  const untilClosed = () => new Promise<void>(() => {});
  void navigator.locks.request(`${NAME} ${tab}`, untilClosed);
  void navigator.locks.request(NAME, () => {
    lead();
    return untilClosed();
  });
  tellTopics();
  addEventListener('pagehide', () => tellTopics([]));
  // A part of the page was replaced, which may show something else now.
  document.addEventListener('htmx:after:swap', () => tellTopics());
  addEventListener('content', () => tellTopics());
}
