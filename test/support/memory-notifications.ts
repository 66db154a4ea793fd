/**
 * Tells clients of memory sessions of changes beyond the messages of the selected mailbox (RFC 5465). Each session compares the mail
 * with what it was when the session last compared it.
 */
import { writeListed, writeStatus } from '../../src/mail/imap/encode/mailboxes.ts';
import { writeMetadataNames } from '../../src/mail/imap/encode/metadata.ts';
import { compileGroups, type NotifyRequest } from '../../src/mail/imap/notify.ts';
import type { Features, StatusItem, StatusValues } from '../../src/mail/imap/session.ts';
import type { MemoryMail, MemoryMailbox } from './memory-imap-session.ts';

type Kept = Pick<MemoryMail, 'mailboxes' | 'subscribed' | 'annotations'>;
type Options = {
  features(): Features;
  selected(): MemoryMailbox | undefined;
  statusOf(mailbox: MemoryMailbox, items: readonly StatusItem[]): StatusValues;
};

type Status = { messages: boolean; flags: boolean; identity: boolean };

/** Returns what tells one session of these changes. */
export function createMemoryNotifications(kept: Kept, { features, selected, statusOf }: Options) {
  let request: NotifyRequest | undefined;
  let known = lookAt(kept);
  const names = new Map<string, string | undefined>();
  const subscriptions = new Set<string>();
  const statuses = new Map<MemoryMailbox, Status>();
  const metadata = new Map<string, Set<string>>();

  function collect(): void {
    const before = known;
    known = lookAt(kept);
    for (const name of symmetricDifference(before.subscribed, known.subscribed)) subscriptions.add(name);
    for (const [name, entries] of known.annotations) {
      const old = before.annotations.get(name) ?? entries;
      for (const entry of new Set([...old.keys(), ...entries.keys()]))
        if (old.get(entry) !== entries.get(entry))
          metadata.set(name, (metadata.get(name) ?? new Set()).add(entry));
    }
    collectNames(before);
    for (const [name, now] of known.mailboxes) {
      const old = before.states.get(now.mailbox);
      const status = statuses.get(now.mailbox);
      const isMoved = old?.name !== name;
      if (now.mailbox === selected()) continue;
      statuses.set(now.mailbox, {
        messages: status?.messages || (old ? old.uids !== now.uids : now.uids !== ''),
        flags:
          status?.flags ||
          [...(old?.flags ?? [])].some(([uid, flags]) => (now.flags.get(uid) ?? flags) !== flags),
        identity: status?.identity || isMoved,
      });
    }
  }

  function collectNames(before: Look): void {
    const named = (name: string) => {
      const parent = name.slice(0, Math.max(0, name.lastIndexOf('/')));
      for (const one of parent === '' ? [name] : [parent, name]) names.set(one, names.get(one));
    };
    const renamed = [...known.mailboxes].flatMap(([name, { mailbox }]) => {
      const from = before.states.get(mailbox)?.name;
      return from !== undefined && from !== name ? [{ from, name }] : [];
    });
    const isBelow = (name: string) => renamed.some((one) => name.startsWith(`${one.name}/`));
    for (const [name, { mailbox }] of known.mailboxes)
      if (!before.states.has(mailbox) && name !== 'INBOX') named(name);
    for (const [mailbox, { name }] of before.states) if (!known.states.has(mailbox)) named(name);
    for (const { from, name } of renamed) if (!isBelow(name)) names.set(name, names.get(from) ?? from);
  }

  return {
    get request(): NotifyRequest | undefined {
      return request;
    },
    set(next: NotifyRequest): void {
      request = next;
      known = lookAt(kept);
      for (const waiting of [names, subscriptions, statuses, metadata]) waiting.clear();
    },
    /** Makes a change of this session, which it is not told of. */
    async own<Result>(change: () => Promise<Result>): Promise<Result> {
      if (request) collect();
      const result = await change();
      known = lookAt(kept);
      return result;
    },
    *statuses(): Generator<Buffer, void, undefined> {
      const events = compileGroups(request?.groups ?? []);
      for (const [name, mailbox] of [...kept.mailboxes].sort(([a], [b]) => (a < b ? -1 : 1))) {
        const wanted = events({ name, isSubscribed: kept.subscribed.has(name) });
        if (mailbox === selected() || !wanted.has('MessageNew')) continue;
        const items: StatusItem[] = ['MESSAGES', 'UIDNEXT', 'UIDVALIDITY'];
        if (wanted.has('FlagChange') || features().condstore) items.push('HIGHESTMODSEQ');
        yield Buffer.from(writeStatus({ mailbox: name, items, values: statusOf(mailbox, items) }, '7bit'));
      }
    },
    *report(): Generator<Buffer, void, undefined> {
      collect();
      const groups = compileGroups(request?.groups ?? []);
      const events = (name: string) => groups({ name, isSubscribed: kept.subscribed.has(name) });
      const listed = new Map<string, string | undefined>();
      for (const [name, oldName] of names)
        if (events(name).has('MailboxName') || (oldName && events(oldName).has('MailboxName')))
          listed.set(name, oldName);
      for (const name of subscriptions)
        if (groups({ name, isSubscribed: true }).has('SubscriptionChange') && !listed.has(name))
          listed.set(name, undefined);
      for (const [mailbox, oldName] of listed) {
        const isParent = [...kept.mailboxes.keys()].some((other) => other.startsWith(`${mailbox}/`));
        const { specialUse } = kept.mailboxes.get(mailbox) ?? {};
        const attributes = [
          ...(kept.mailboxes.has(mailbox) ? [] : ['\\NonExistent']),
          ...(kept.subscribed.has(mailbox) ? ['\\Subscribed'] : []),
          isParent ? '\\HasChildren' : '\\HasNoChildren',
          ...(specialUse === undefined ? [] : [specialUse]),
        ];
        yield Buffer.from(writeListed({ response: 'LIST', mailbox, attributes, oldName }, '7bit'));
      }
      for (const [name, mailbox] of kept.mailboxes) {
        const status = statuses.get(mailbox);
        if (!status || mailbox === selected()) continue;
        const wanted = events(name);
        const items: StatusItem[] = [
          ...(status.messages && wanted.has('MessageNew') ? (['UIDNEXT', 'MESSAGES'] as const) : []),
          ...((status.flags || status.identity) && wanted.has('FlagChange')
            ? (['UIDVALIDITY', 'UNSEEN'] as const)
            : []),
        ];
        if (items.length === 0) continue;
        if (features().condstore) items.push('HIGHESTMODSEQ');
        yield Buffer.from(writeStatus({ mailbox: name, items, values: statusOf(mailbox, items) }, '7bit'));
      }
      const isServerWanted = request?.groups.some((group) => group.events.includes('ServerMetadataChange'));
      for (const [name, entries] of metadata)
        if (name === '' ? isServerWanted : events(name).has('MailboxMetadataChange'))
          yield Buffer.from(writeMetadataNames(name, [...entries], '7bit'));
      for (const waiting of [names, subscriptions, statuses, metadata]) waiting.clear();
    },
  };
}

type Look = ReturnType<typeof lookAt>;

function lookAt({ mailboxes, subscribed, annotations }: Kept) {
  const looks = [...mailboxes].map(([name, mailbox]) => ({
    name,
    mailbox,
    uids: mailbox.messages.map(({ uid }) => uid).join(),
    flags: new Map(mailbox.messages.map(({ uid, flags }) => [uid, [...flags].join(' ')])),
  }));
  return {
    subscribed: new Set(subscribed),
    mailboxes: new Map(looks.map((look) => [look.name, look])),
    states: new Map(looks.map((look) => [look.mailbox, look])),
    annotations: new Map<string, Map<string, unknown>>(
      [
        ['', annotations] as const,
        ...[...mailboxes].map(([name, one]) => [name, one.annotations] as const),
      ].map(([name, entries]) => [
        name,
        new Map([...entries.values()].map(({ entry, value }) => [entry, value])),
      ]),
    ),
  };
}

function symmetricDifference(one: ReadonlySet<string>, other: ReadonlySet<string>): string[] {
  return [...one, ...other].filter((name) => !one.has(name) || !other.has(name));
}
