/** The progress of work that goes on after a form was sent, such as an import. */
import type { ComponentChildren } from 'preact';
import type { BaseContext } from '../page.ts';

type ProgressProps = {
  context: BaseContext;
  /** True while the work goes on. A browser with JavaScript then asks for this part of the page again and again. */
  isRunning: boolean;
  /** Share that is done, between 0 and 1; undefined when it is not known. */
  share?: number | undefined;
  label: string;
  /** Topic of the stream that tells when it has changed (live/topics.ts). */
  topic: string;
  children: ComponentChildren;
};

/** Time between two questions of a page whose stream says nothing, in seconds. */
const SECONDS = 15;

/** The part of a page that shows the progress. Without JavaScript, a link shows the page again. */
export function Progress({ context, isRunning, share, label, topic, children }: ProgressProps) {
  const { path, texts } = context;
  const asksAgain = isRunning && {
    'hx-get': path,
    'data-topic': topic,
    'hx-trigger': `changed, every ${SECONDS}s`,
    'hx-select': '#progress',
    'hx-swap': 'outerHTML',
  };
  return (
    <>
      <section id="progress" aria-label={label} {...asksAgain}>
        {isRunning && <progress aria-label={label} value={share} max={1} />}
        {children}
      </section>
      {isRunning && (
        <noscript>
          <a href={path}>{texts.frame.refresh}</a>
        </noscript>
      )}
    </>
  );
}
