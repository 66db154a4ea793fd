/** Lines that scripts add to while a page is open, the newest first, with the button that pauses them. Without scripts, a link shows the page again. */
import type { ComponentChildren } from 'preact';
import type { TailLine } from '../../events/tail-store.ts';
import { path } from '../../http/json/calls.ts';
import { Foreign, Heading, Time } from '../frame/elements.tsx';
import { Table } from '../frame/lists.tsx';
import type { BaseContext } from '../page.ts';

/** A line as browsers get it. */
type Line = Pick<TailLine, 'position' | 'type' | 'at' | 'emailId' | 'to' | 'from' | 'reply'>;

type HeadingProps = { context: BaseContext; title: string; children?: ComponentChildren };

/** The heading of a page with such lines. */
export function LiveHeading({ context, title, children }: HeadingProps) {
  const { texts, path: here, query } = context;
  const { live } = texts;
  return (
    <Heading title={title}>
      <button type="button" class="secondary outline" id="tail-pause" data-other={live.goOn} hidden>
        {live.pause}
      </button>
      {children}
      <a href={query.size > 0 ? `${here}?${query}` : here}>{texts.frame.refresh}</a>
    </Heading>
  );
}

type LinesProps = {
  context: BaseContext;
  /** Topic of the stream (topics.ts). */
  topic: string;
  /** Position behind the lines that the page begins with. */
  position: number;
  lines: readonly Line[];
  /** Path of the page of an email, without its id. */
  emailPath: string;
  /** Names of the types of lines. */
  names: Readonly<Record<string, string>>;
  labels: Readonly<Record<'lines' | 'to' | 'from' | 'reply' | 'none', string>>;
};

export function LiveLines({
  context,
  topic,
  position,
  lines,
  emailPath,
  names,
  labels: { none, ...labels },
}: LinesProps) {
  const { live } = context.texts;
  const foreign = (name: 'to' | 'from' | 'reply') => ({
    label: labels[name],
    cell: (line: Line) => <Foreign text={line[name]} />,
  });
  return (
    <>
      <p
        id="tail-state"
        role="status"
        data-connected={live.connected}
        data-lost={live.lost}
        data-paused={live.paused}
      />
      <p id="tail-omitted" class="muted" data-some={live.omitted} data-more={live.omittedMore} hidden />
      <div
        id="tail-view"
        data-topic={topic}
        data-position={position}
        data-emails={emailPath}
        data-names={JSON.stringify(names)}
        data-zone={context.formats.timeZone}
      >
        <Table
          context={context}
          id="tail"
          caption={labels.lines}
          rows={lines}
          keyOf={(line) => String(line.position)}
          isGrowing
          columns={[
            { label: live.time, cell: ({ at }) => <Time context={context} at={at} /> },
            {
              label: live.event,
              cell: ({ type, emailId }) => {
                const name = names[type] ?? type;
                return emailId === null ? name : <a href={emailPath + path`${emailId}`}>{name}</a>;
              },
            },
            ...(['to', 'from', 'reply'] as const).map(foreign),
          ]}
        />
      </div>
      {lines.length === 0 && <p class="empty">{none}</p>}
    </>
  );
}
