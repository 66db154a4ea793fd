/** Formats received messages as text for the operator. Much of it comes from strangers. */
import type { ListedReceived, OperatorReceived } from '../receiving/operator/show.ts';
import { formatList, formatTable, printable } from './table.ts';
import type { NameOf } from './tenant-names.ts';

export type ListedMessages = { hasMore: boolean; messages: ListedReceived[] };

const HEADINGS = ['id', 'received', 'tenant', 'from', 'to', 'bytes', 'spam', 'tasks', 'subject'];

/** Returns a table with one row for each message. */
export function listText({ hasMore, messages }: ListedMessages, nameOf: NameOf): string {
  const rows = messages.map((one) => [
    ...[
      one.id,
      one.createdAt,
      one.tenantId === null ? 'none' : nameOf(one.tenantId),
      one.from || '<>',
      recipientsOf(one.to),
    ],
    ...[String(one.sizeBytes), spamOf(one.spamScore, one.flagged), tasksOf(one.tasks)],
    one.subject ?? '',
  ]);
  const listed = formatList(
    HEADINGS,
    rows.map((row) => row.map(printable)),
    'No received messages.',
  );
  return hasMore ? `${listed}\n(the newest ${messages.length})` : listed;
}

function recipientsOf(addresses: readonly string[]): string {
  const [first = '', ...more] = addresses;
  return more.length === 0 ? first : `${first} +${more.length}`;
}

function spamOf(score: number | null, isFlagged: boolean): string {
  return [score === null ? '' : String(score), isFlagged ? 'flagged' : ''].filter(Boolean).join(' ');
}

function tasksOf(tasks: ListedReceived['tasks']): string {
  return tasks
    .map(({ kind, state, count }) => `${kind} ${state}${count === 1 ? '' : ` (${count})`}`)
    .join(', ');
}

/** Returns the message as three tables: what it is, to whom it came, and what is done with it. */
export function detailsText(message: OperatorReceived, { nameOf }: { nameOf: NameOf }): string {
  const fields = fieldsOf(message, nameOf).flatMap(([name, value]) =>
    value === '' ? [] : [[name, printable(value)]],
  );
  const recipients = message.recipients.map(({ address, kind, targetId }) => [
    printable(address),
    kind,
    targetId,
  ]);
  const tasks = message.tasks.map((task) => [
    ...[task.id, task.kind, task.targetId, task.state, String(task.attempts), task.nextAttemptAt ?? ''],
    ...[String(task.responseStatus ?? ''), printable(task.error ?? '')],
  ]);
  return [
    formatTable(['field', 'value'], fields),
    formatTable(['recipient', 'kind', 'target'], recipients),
    formatList(
      ['task', 'kind', 'target', 'state', 'attempts', 'next attempt', 'status', 'last error'],
      tasks,
      'No tasks.',
    ),
  ].join('\n\n');
}

/** Returns the fields of a message in the order in which they are shown. Empty ones are left out. */
function fieldsOf(
  { envelope, auth, spam, ...message }: OperatorReceived,
  nameOf: NameOf,
): [string, string][] {
  return [
    ['id', message.id],
    ['tenant', message.tenantId === null ? 'none: mail of the installation' : nameOf(message.tenantId)],
    ['received', message.createdAt],
    [
      'client',
      envelope.client === '' ? 'this installation' : `${envelope.client} (${envelope.helo ?? 'no name'})`,
    ],
    ['tls', envelope.tls ?? (envelope.client === '' ? '' : 'none')],
    ['require tls', envelope.requireTls ? 'yes' : ''],
    ['sender', envelope.sender === '' ? '<>' : envelope.sender],
    ['from', message.from ?? ''],
    ['subject', message.subject ?? ''],
    ['message-id', message.messageId === null ? '' : `<${message.messageId}>`],
    ['answers', message.emailId ?? ''],
    ['bytes', String(message.sizeBytes)],
    ...(auth === null ? [] : verdictsOf(auth)),
    ['spam score', String(spam.score ?? '')],
    ['flagged', spam.flagged ? 'yes' : ''],
    ['reasons', spam.reasons.join('; ')],
    ['processed', message.endedAt ?? 'not yet'],
    ['content deleted', message.contentDeletedAt ?? ''],
  ];
}

function verdictsOf({ spf, dkim, dmarc, arc, reverseDns }: NonNullable<OperatorReceived['auth']>) {
  const of = (result: string, name: string | null) => (name ? `${result} (${name})` : result);
  const signatures = dkim.map(({ result, domain, selector }) =>
    of(result, `${selector}._domainkey.${domain}`),
  );
  const author = [dmarc.domain, dmarc.policy === null ? '' : `p=${dmarc.policy}`].filter(Boolean).join(', ');
  return [
    ['spf', of(spf.result, spf.domain)],
    ['dkim', signatures.join(', ') || 'none'],
    ['dmarc', of(dmarc.result, author)],
    ['arc', of(arc.result, arc.sealers.join(', '))],
    ['reverse dns', of(reverseDns.result, reverseDns.name)],
  ] satisfies [string, string][];
}
