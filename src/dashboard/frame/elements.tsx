/** The small elements of pages: times, states, names of strangers, texts to copy. */
import type { ComponentChildren } from 'preact';
import type { BaseContext } from '../page.ts';
import { translate } from '../texts/sentences.ts';

type Children = { children: ComponentChildren };

type TimeProps = {
  context: BaseContext;
  at: number | string | null | undefined;
  /** Text in the place of a time that there is not; "never" unless it says otherwise. */
  otherwise?: string;
};

/** A time in the person's zone, which its title names with the seconds. */
export function Time({ context, at, otherwise = context.texts.frame.never }: TimeProps) {
  if (at === null || at === undefined) return <span class="muted">{otherwise}</span>;
  const { time, exactTime } = context.formats;
  return (
    <time dateTime={new Date(at).toISOString()} title={exactTime(at)}>
      {time(at)}
    </time>
  );
}

/** Kinds of a status, which have a colour of their own beside the word. */
export type Tone = 'good' | 'warning' | 'bad' | 'neutral';

/** A status as a word with a colour. */
export function Status({ tone, children }: Children & { tone: Tone }) {
  return <span class={`status ${tone}`}>{children}</span>;
}

type ForeignProps = {
  text: string | null | undefined;
  /** Language of the text, where it is known. */
  lang?: string | undefined;
};

/** Text of strangers: its direction follows its own letters, and long words are broken. */
export function Foreign({ text, lang }: ForeignProps) {
  return (
    <bdi class="foreign" dir="auto" lang={lang}>
      {text}
    </bdi>
  );
}

/** A sentence of the daemon, such as advice, in the language of the page where it is known, and in English otherwise. */
export function Sentence({ context, text }: { context: Pick<BaseContext, 'formats'>; text: string }) {
  return <Foreign {...translate(context.formats.language, text)} />;
}

/** A text that a button copies, such as a DNS record or an id. */
export function Copyable({ context, text }: { context: BaseContext; text: string }) {
  return (
    <span class="copyable">
      <code dir="ltr">{text}</code>
      <button
        type="button"
        class="copy outline secondary"
        data-copy={text}
        data-copied={context.texts.frame.copied}
        hidden
      >
        {context.texts.frame.copy}
      </button>
    </span>
  );
}

/** Names with their values. */
export function Facts({ facts }: { facts: readonly (readonly [string, ComponentChildren])[] }) {
  return (
    <dl class="facts">
      {facts.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}

/** The heading of a page, with what can be done from there. */
export function Heading({ title, children }: { title: string; children?: ComponentChildren }) {
  return (
    <header class="heading">
      <h1>
        <Foreign text={title} />
      </h1>
      {children !== undefined && <div class="buttons">{children}</div>}
    </header>
  );
}
