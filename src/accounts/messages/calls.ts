/** Defines what programs do with the messages of an account, over the HTTP API. Sessions of mail programs are told of every change. */
import type { MailboxRow } from '../../db/mailbox-tables.ts';
import type { OpenAccount } from '../account.ts';
import { addDraft, fileSent, updateMessage } from './change.ts';
import { getMessage, readOctets } from './find.ts';
import { listNamedFolders } from './folders.ts';
import { listMessages } from './list.ts';
import { getThread, listThreads } from './threads.ts';

/** Each call takes the account and one input, and runs in the thread of the account. */
const MESSAGE_CALLS = {
  listFolders: (account: OpenAccount, _input: Record<never, never>) => listNamedFolders(account),
  list: listMessages,
  get: getMessage,
  readOctets,
  listThreads,
  getThread,
  update: updateMessage,
  addDraft,
  fileSent,
};

type Table = typeof MESSAGE_CALLS;
export type MessageCallName = keyof Table;
export type MessageInput<Name extends MessageCallName> = Parameters<Table[Name]>[1];
export type MessageResult<Name extends MessageCallName> = Awaited<ReturnType<Table[Name]>>;

/** The messages of mailboxes, as the main thread reaches them. */
export type MailboxMessages = {
  /**
   * Makes one of the calls.
   * @throws AppError not_found; unavailable when the mailbox is damaged or its thread starts again; interrupted when the thread ends
   * during the call; the errors of the call
   */
  call<Name extends MessageCallName>(
    mailbox: MailboxRow,
    name: Name,
    input: MessageInput<Name>,
  ): Promise<MessageResult<Name>>;
};

/** Makes a call in the thread of the account. */
export function runMessageCall<Name extends MessageCallName>(
  account: OpenAccount,
  name: Name,
  input: MessageInput<Name>,
): Promise<MessageResult<Name>> {
  const call = MESSAGE_CALLS[name] as (
    account: OpenAccount,
    input: MessageInput<Name>,
  ) => Promise<MessageResult<Name>>;
  return call(account, input);
}
