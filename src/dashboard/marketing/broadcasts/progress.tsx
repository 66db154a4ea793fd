/** The progress of a broadcast that has started, and what steers it. */
import type { ShownBroadcast } from '../../../broadcasts/schemas.ts';
import { path } from '../../../http/json/calls.ts';
import { ActionButton, Disclosure, Form } from '../../frame/forms.tsx';
import { Refreshed } from '../../frame/refreshed.tsx';
import { workName } from '../../live/topics.ts';
import type { TenantContext } from '../../page.ts';
import { PaceFields } from './pace.tsx';

type Props = { context: TenantContext; broadcast: ShownBroadcast };

export function Progress({ context, broadcast }: Props) {
  const { texts, formats, can } = context;
  const { broadcasts } = texts;
  const { status, counts } = broadcast;
  if (status !== 'sending' && status !== 'paused') return null;
  const done = counts.recipients - counts.waiting - counts.queued;
  const label =
    counts.recipients === 0
      ? broadcasts.progressBegins
      : broadcasts.progressOf(formats.number(done), formats.number(counts.recipients));
  return (
    <section aria-labelledby="progress-title">
      <h2 id="progress-title">{broadcasts.progress}</h2>
      <Refreshed
        context={context}
        id="progress"
        topic={workName(context.at(''), path`/broadcasts/${broadcast.id}`)}
        isRunning={status === 'sending'}
        since={broadcast.startedAt}
      >
        <p>{label}</p>
        <progress aria-label={broadcasts.progress} value={done} max={Math.max(counts.recipients, 1)} />
      </Refreshed>
      {can('write') && <Steering context={context} broadcast={broadcast} />}
    </section>
  );
}

function Steering({ context, broadcast: { status, pace } }: Props) {
  const { broadcasts } = context.texts;
  const { failed } = context;
  const verb = status === 'paused' ? 'resume' : 'pause';
  return (
    <div class="buttons">
      <ActionButton context={context} action={verb} submit={broadcasts[verb]} />
      <Disclosure label={broadcasts.setPace} isOpen={failed?.action === 'pace'}>
        <Form context={context} action="pace" submit={broadcasts.setPace}>
          <PaceFields context={context} action="pace" pace={pace} />
        </Form>
      </Disclosure>
      <Disclosure label={broadcasts.cancel} isOpen={failed?.action === 'cancel'}>
        <p>{broadcasts.cancelText}</p>
        <ActionButton context={context} action="cancel" submit={broadcasts.cancel} isDangerous />
      </Disclosure>
    </div>
  );
}
