/**
 * Changes mail of the queue in two steps: the first selects the mail and counts it, and the second does what was chosen. The selection stands in
 * the address, and goes through the form once more, so that the audit log has it.
 */

import { answerOf, path } from '../../../http/json/calls.ts';
import type { ShownMessage } from '../../../queue/control/message-api.ts';
import type { ShownAction } from '../../../queue/control/show.ts';
import type { AppError } from '../../../system/errors.ts';
import { countText, MAX_COUNTED } from '../../frame/counted.ts';
import { Heading } from '../../frame/elements.tsx';
import { Field, Form } from '../../frame/forms.tsx';
import { definePage, fieldOf } from '../../page.ts';
import { aboutOwner } from '../find-tenant.ts';
import { CRITERIA, CriteriaFields, type OperatorContext, Refused, readCriteria } from './criteria.tsx';
import { QueueTabs } from './tabs.tsx';

type Verb = ShownAction['verb'];
const VERBS = ['hold', 'release', 'retry', 'reroute', 'cancel', 'fail'] as const satisfies readonly Verb[];

/** Verbs whose reason the senders see, and those that cannot be undone. */
const HAS_REASON: readonly Verb[] = ['hold', 'cancel', 'fail'];
const IS_FINAL: readonly Verb[] = ['cancel', 'fail'];

/** The selection of an action: criteria, `hold` for the mail of a hold, or `all`. */
type Wanted = { verb: string; all?: true; hold?: string } & Record<string, string | true>;

export const queueChangePage = definePage({
  area: 'operator',
  path: '/queue/change',
  async show(context) {
    const { operator, query, texts } = context;
    const { queue } = texts;
    const wanted = readWanted((name) => query.get(name));
    const counted =
      wanted.verb === ''
        ? undefined
        : await answerOf(
            operator.post<{ matched: number }>('/queue/count', { ...wanted, maximum: MAX_COUNTED }),
          );
    return {
      title: queue.change,
      body: (
        <>
          <Heading title={queue.change} />
          <QueueTabs context={context} />
          <p>{queue.countFirst}</p>
          <SelectionForm context={context} />
          {counted !== undefined && <Counted context={context} wanted={wanted} counted={counted} />}
        </>
      ),
    };
  },
  actions: {
    act: {
      logs: ['verb', 'all', 'hold', 'email', 'domain', 'site', 'tenant', 'kind', 'class', 'target'],
      async run({ operator }, form) {
        const wanted = readWanted((name) => fieldOf(form, name));
        const [reason, target] = [fieldOf(form, 'reason').trim(), fieldOf(form, 'target').trim()];
        const made = await operator.post<ShownAction>('/queue/actions', {
          ...wanted,
          ...(reason !== '' && { reason }),
          ...(target !== '' && { target }),
          maximum: MAX_COUNTED,
        });
        return {
          to: '/operator/queue/actions',
          said: 'queueChanged',
          acted: await aboutAction(operator, made),
        };
      },
    },
  },
});

/** Returns what the audit log has of an action: the tenant whose mail it names, also by the id of an email. */
async function aboutAction(operator: OperatorContext['operator'], { emailId, tenantId }: ShownAction) {
  if (emailId === null) return aboutOwner({ tenantId });
  return aboutOwner(await operator.get<ShownMessage>(path`/emails/${emailId}`));
}

function readWanted(read: (name: string) => string | null): Wanted {
  const hold = read('hold') ?? '';
  return {
    verb: read('verb') ?? '',
    ...(hold === '' ? readCriteria(read) : { hold }),
    ...(read('all') === 'on' && { all: true as const }),
  };
}

/** The first step, which changes nothing. */
function SelectionForm({ context }: { context: OperatorContext }) {
  const { path, query, texts } = context;
  const { queue } = texts;
  return (
    <form method="get" action={path} class="filters" aria-label={queue.change}>
      <label>
        {queue.verb}
        <select name="verb">
          {VERBS.map((verb) => (
            <option key={verb} value={verb} selected={verb === query.get('verb')}>
              {queue.verbs[verb]}
            </option>
          ))}
        </select>
      </label>
      <CriteriaFields context={context} />
      <label>
        <input type="checkbox" name="all" checked={query.get('all') === 'on'} /> {queue.all}
      </label>
      <div class="buttons">
        <button type="submit">{queue.count}</button>
      </div>
    </form>
  );
}

type CountedProps = { context: OperatorContext; wanted: Wanted; counted: { matched: number } | AppError };

/** The second step: how many recipients it reaches, and the button that does it. */
function Counted({ context, wanted, counted }: CountedProps) {
  const { queue } = context.texts;
  if (counted instanceof Error) return <Refused context={context} refusal={counted} />;
  const verb = wanted.verb as Verb;
  const field = { context, action: 'act' };
  return (
    <section class="notice" aria-label={queue.verbs[verb]}>
      <h2>{queue.verbs[verb]}</h2>
      <p>
        <strong>{reachText(context, counted.matched)}</strong> {queue.verbHelp[verb]}
      </p>
      <Form
        context={context}
        action="act"
        submit={queue.really(queue.verbs[verb])}
        isDangerous={IS_FINAL.includes(verb)}
      >
        {['verb', 'hold', 'all', ...CRITERIA].map((name) => {
          const value = wanted[name];
          if (value === undefined) return null;
          return <input key={name} type="hidden" name={name} value={value === true ? 'on' : value} />;
        })}
        {HAS_REASON.includes(verb) && <Field {...field} name="reason" label={queue.reason} maxLength={500} />}
        {verb === 'reroute' && <Field {...field} name="target" label={queue.host} />}
      </Form>
    </section>
  );
}

function reachText(context: OperatorContext, matched: number) {
  const { queue } = context.texts;
  if (matched === 0) return queue.reachesNone;
  if (matched === 1) return queue.reachesOne;
  return queue.reaches(countText(context, matched));
}
