/** The kind of a task in words, with the name that the command line and the metrics have for it. */
import type { BaseContext } from '../page.ts';

export function TaskKind({ context, kind }: { context: Pick<BaseContext, 'texts'>; kind: string }) {
  const { kinds } = context.texts.tasks;
  if (!Object.hasOwn(kinds, kind)) return <code>{kind}</code>;
  return (
    <>
      {kinds[kind]} <code>{kind}</code>
    </>
  );
}
