/** Sources that the operator suspends, resumes and probes. */
import type { ShownProbe } from '../../../queue/sources/admin-api.ts';
import type { ShownSource } from '../../../queue/sources/list.ts';
import { Foreign, Heading, Status, Time } from '../../frame/elements.tsx';
import { ActionButton, Disclosure, Field, Form, Select } from '../../frame/forms.tsx';
import { Table } from '../../frame/lists.tsx';
import type { Contexts } from '../../page.ts';

type Context = Contexts['operator'];
type SourceProps = { context: Context; source: ShownSource };

/** The word of the operator by which no mail leaves from a source. */
export function ByHand({ context, source: { suspendedByHand } }: SourceProps) {
  const { sources: texts } = context.texts;
  if (suspendedByHand === null) return null;
  const { reason, since } = suspendedByHand;
  return (
    <div>
      <Status tone="warning">{texts.suspendedByHand}</Status> {texts.since}{' '}
      <Time context={context} at={since} />
      {reason !== null && (
        <>
          {': '}
          <Foreign text={reason} />
        </>
      )}
    </div>
  );
}

export function SourceActions({ context, source: { name, suspended, suspendedByHand } }: SourceProps) {
  const { sources: texts } = context.texts;
  const isSuspended = suspendedByHand !== null || suspended.length > 0;
  const button = { context, about: { source: name } };
  return (
    <>
      {isSuspended && (
        <ActionButton {...button} action="resume" submit={texts.resume} label={`${texts.resume}: ${name}`} />
      )}
      <ActionButton {...button} action="probe" submit={texts.probe} label={`${texts.probe}: ${name}`} />
    </>
  );
}

type FormProps = { context: Context; sources: readonly ShownSource[] };

export function SuspendForm({ context, sources }: FormProps) {
  const { sources: texts } = context.texts;
  const field = { context, action: 'suspend' };
  const options = sources
    .filter(({ suspendedByHand }) => suspendedByHand === null)
    .map(({ name }) => ({ value: name, label: name }));
  if (options.length === 0) return null;
  return (
    <Disclosure label={texts.suspend} isOpen={context.failed?.action === 'suspend'}>
      <Form context={context} action="suspend" submit={texts.suspend}>
        <p>{texts.suspendText}</p>
        <Select {...field} name="source" label={texts.source} options={options} />
        <Field {...field} name="reason" label={texts.reason} />
      </Form>
    </Disclosure>
  );
}

/** The page with what a probe has found. */
export function probeView(context: Context, { name, addresses }: ShownProbe) {
  const { sources: texts } = context.texts;
  const title = texts.probeOf(name);
  const body = (
    <>
      <Heading title={title}>
        <a href={context.path}>{texts.back}</a>
      </Heading>
      <p>{texts.probeText}</p>
      <Table
        context={context}
        caption={title}
        rows={addresses}
        keyOf={({ address }) => address}
        columns={[
          { label: texts.addresses, cell: ({ address }) => <code>{address}</code> },
          {
            label: texts.result,
            cell: ({ fault }) =>
              fault === null ? (
                <Status tone="good">{texts.answers}</Status>
              ) : (
                <>
                  <Status tone="bad">{texts.fails}</Status> <Foreign text={fault} />
                </>
              ),
          },
        ]}
      />
    </>
  );
  return { title, body };
}
