/** Reads the arguments of NOTIFY (RFC 5465 section 8). */

import { bad, CommandError } from '../command-error.ts';
import type { TextForm } from '../encode/strings.ts';
import type { FetchItem } from '../fetch-item.ts';
import {
  type EventGroup,
  type MailboxFilter,
  MESSAGE_EVENTS,
  NO_EVENTS,
  NOTIFY_EVENTS,
  type NotifyEvent,
  type NotifyRequest,
  type SelectedEvents,
} from '../notify.ts';
import type { Cursor } from './cursor.ts';
import { parseFetchItems } from './fetch-items.ts';
import { parseMailbox } from './list.ts';

/** Maximum number of groups, which are compared with every mailbox that changes. Clients send about three. */
const MAX_GROUPS = 100;

/** `isDelayed` tells that EXPUNGE waits for a command that allows it (SELECTED-DELAYED). */
type NotifyArguments = { request: NotifyRequest; isSet: boolean; isDelayed: boolean };

type SelectedFilter = { kind: 'selected' | 'selected-delayed' };
type Filter = MailboxFilter | SelectedFilter;
type Group = { filter: Filter; events: string[]; items: FetchItem[] };

const NAMES: ReadonlyMap<string, NotifyEvent> = new Map(
  NOTIFY_EVENTS.map((name) => [name.toUpperCase(), name]),
);
/** An event that nobody can ask for without the events of messages, and that is not supported. */
const ANNOTATION_CHANGE = 'ANNOTATIONCHANGE';

/** Returns the arguments. @throws CommandError */
export function parseNotify(cursor: Cursor, form: TextForm): NotifyArguments {
  cursor.space();
  const isSet = cursor.skip('SET ');
  if (!isSet) {
    cursor.expect('NONE');
    cursor.end();
    return { request: NO_EVENTS, isSet, isDelayed: false };
  }
  const status = cursor.skip('STATUS ');
  const groups = [parseGroup(cursor, form)];
  while (!cursor.isAtEnd) {
    cursor.space();
    groups.push(parseGroup(cursor, form));
  }
  if (groups.length > MAX_GROUPS)
    throw new CommandError('NO', `NOTIFY has at most ${MAX_GROUPS} groups`, 'NOTIFICATIONOVERFLOW');
  return { ...arrange(groups, status), isSet };
}

function parseGroup(cursor: Cursor, form: TextForm): Group {
  cursor.expect('(');
  const filter = parseFilter(cursor, form);
  cursor.space();
  const items: FetchItem[] = [];
  const isNone = cursor.skip('NONE');
  const events = isNone ? [] : cursor.list(() => parseEvent(cursor, items));
  if (!isNone && events.length === 0) bad('NOTIFY needs an event, or NONE');
  cursor.expect(')');
  return { filter, events, items };
}

const FILTERS: ReadonlyMap<string, Filter['kind']> = new Map([
  ['SELECTED', 'selected'],
  ['SELECTED-DELAYED', 'selected-delayed'],
  ['INBOXES', 'personal'],
  ['PERSONAL', 'personal'],
  ['SUBSCRIBED', 'subscribed'],
  ['SUBTREE', 'subtree'],
  ['MAILBOXES', 'named'],
]);

function parseFilter(cursor: Cursor, form: TextForm): Filter {
  const kind = FILTERS.get(cursor.word()) ?? bad('NOTIFY has a filter that is unknown');
  return kind === 'subtree' || kind === 'named' ? { kind, names: parseNames(cursor, form) } : { kind };
}

function parseNames(cursor: Cursor, form: TextForm): string[] {
  cursor.space();
  if (!cursor.isAtList) return [parseMailbox(cursor, form)];
  const names = cursor.list(() => parseMailbox(cursor, form));
  return names.length > 0 ? names : bad('NOTIFY needs the name of a mailbox');
}

/** Returns the name of an event in upper case, and adds the items that are asked of new messages. */
function parseEvent(cursor: Cursor, items: FetchItem[]): string {
  const name = cursor.atom().toUpperCase();
  if (name !== 'MESSAGENEW' || !cursor.isBeforeList) return name;
  cursor.space();
  items.push(...parseFetchItems(cursor));
  return name;
}

/** Checks what may stand together. An event that is not supported is refused with NO, and everything else that is wrong with BAD. */
function arrange(groups: readonly Group[], status: boolean): Omit<NotifyArguments, 'isSet'> {
  for (const group of groups) checkGroup(group);
  for (const { events } of groups) if (events.some((name) => !NAMES.has(name))) refuseEvent();
  const selected = groups.filter(isOfSelected);
  if (selected.length > 1) bad('NOTIFY has SELECTED twice');
  const others = groups.flatMap(({ filter, events }): EventGroup[] =>
    isSelected(filter) ? [] : [{ filter, events: events.flatMap((name) => NAMES.get(name) ?? []) }],
  );
  return {
    request: { status, selected: eventsOf(selected[0]), groups: others },
    isDelayed: selected[0]?.filter.kind === 'selected-delayed',
  };
}

function isSelected(filter: Filter): filter is SelectedFilter {
  return filter.kind === 'selected' || filter.kind === 'selected-delayed';
}

function isOfSelected({ filter }: Group): boolean {
  return isSelected(filter);
}

function checkGroup(group: Group): void {
  const has = (event: string): boolean => group.events.includes(event);
  if (has('MESSAGENEW') !== has('MESSAGEEXPUNGE')) bad('MessageNew and MessageExpunge come together');
  if ((has('FLAGCHANGE') || has(ANNOTATION_CHANGE)) && !has('MESSAGENEW'))
    bad('FlagChange and AnnotationChange need MessageNew and MessageExpunge');
  if (group.items.length > 0 && !isOfSelected(group)) bad('Only the selected mailbox returns items');
  const isOther = (name: string): boolean => {
    const event = NAMES.get(name);
    return event !== undefined && !MESSAGE_EVENTS.includes(event);
  };
  if (isOfSelected(group) && group.events.some(isOther)) bad('SELECTED takes events of messages alone');
}

function refuseEvent(): never {
  const code = `BADEVENT (${NOTIFY_EVENTS.join(' ')})`;
  throw new CommandError('NO', 'An event is not supported', code);
}

function eventsOf(group: Group | undefined): SelectedEvents {
  if (!group) return NO_EVENTS.selected;
  const { events, items } = group;
  return { messages: events.includes('MESSAGENEW'), flags: events.includes('FLAGCHANGE'), items };
}
