/** A part of a page that a browser with JavaScript asks for again while something runs; without it, a link loads the page again. */
import type { ComponentChildren } from 'preact';
import type { BaseContext } from '../page.ts';

type RefreshedProps = {
  context: BaseContext;
  id: string;
  isRunning: boolean;
  /** Time at which it began to run. */
  since: number | string | null;
  /** Topic of the stream that tells when it has changed (live/topics.ts). The page is live, and asks by itself only in case it has no stream. */
  topic?: string;
  children: ComponentChildren;
};

/** Times between two questions: short at the beginning, and longer for what runs for minutes, so that open pages cost little. */
const SHORT_SECONDS = 2;
const LONG_SECONDS = 15;
const LONG_AFTER_MS = 60_000;

export function Refreshed({ context, id, isRunning, since, topic, children }: RefreshedProps) {
  const { path, query, app, texts } = context;
  const address = path + (query.size > 0 ? `?${query}` : '');
  if (!isRunning) return <div id={id}>{children}</div>;
  const ranMs = since === null ? 0 : app.clock.now() - new Date(since).getTime();
  const seconds = ranMs < LONG_AFTER_MS && topic === undefined ? SHORT_SECONDS : LONG_SECONDS;
  return (
    <div
      id={id}
      aria-live="polite"
      data-refreshed=""
      hx-get={address}
      data-topic={topic}
      hx-trigger={`changed, every ${seconds}s`}
      hx-select={`#${id}`}
      hx-swap="outerHTML"
    >
      {children}
      <p>
        <a href={address}>{texts.frame.reload}</a>
      </p>
    </div>
  );
}
