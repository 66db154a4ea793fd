/** Decides whether a request reaches a mailbox, and makes its calls to the account, so that no program starves the others. */
import type { FastifyRequest } from 'fastify';
import type { MessageCallName, MessageInput, MessageResult } from '../accounts/messages/calls.ts';
import type { RunningAccounts } from '../accounts/running-accounts.ts';
import type { App } from '../app.ts';
import type { MailboxRow } from '../db/mailbox-tables.ts';
import { sandboxDomain } from '../domains/name.ts';
import { listDomainsOfMailbox } from '../mailboxes/addresses/store.ts';
import { type Login, type LoginRefusal, renewMarked } from '../mailboxes/credential.ts';
import { ConcurrencyLimiter } from '../system/concurrency-limiter.ts';
import { AppError, notFound } from '../system/errors.ts';
import { callerOf } from '../tenants/authenticate.ts';
import { invalidKey } from '../tenants/key-access.ts';
import { type Admission, busy, createAdmission } from './admission.ts';

export type MailboxApp = App & { accounts: RunningAccounts };

/** Calls about the messages of mailboxes. */
export type MessageAccess = {
  /**
   * Makes a call, which waits for its turn.
   * @throws AppError unavailable when too many calls wait; the errors of the call
   */
  call<Name extends MessageCallName>(
    mailbox: MailboxRow,
    name: Name,
    input: MessageInput<Name>,
  ): Promise<MessageResult<Name>>;
  /**
   * Reads on in a message. It is never refused because others wait: the beginning may have been sent, and a request waits for one piece at
   * a time, so that the number of these calls is bounded by that of the requests.
   * @throws AppError not_found, and the other errors of the call
   */
  readOn(mailbox: MailboxRow, input: MessageInput<'readOctets'>): Promise<MessageResult<'readOctets'>>;
  /** Bounds the messages that are parsed for a mailbox and for its tenant. */
  parsing: Admission;
};

/** Maximum number of calls to all accounts that run at the same time, and the share of the free ones that one mailbox gets: three of them. */
const MAX_RUNNING = 8;
const PER_FREE = 0.5;
/** Maximum number of calls that wait. */
const MAX_WAITING = 64;

/**
 * Returns the calls of programs. In the thread of an account they take turns with its other work, such as the sessions of mail programs
 * (system/slices.ts); here their number is bounded.
 */
export function createMessageAccess({ accounts }: Pick<MailboxApp, 'accounts'>): MessageAccess {
  const limiter = new ConcurrencyLimiter({
    maxRunning: MAX_RUNNING,
    perFree: PER_FREE,
    maxWaiting: MAX_WAITING,
  });
  const calling = createAdmission();
  return {
    call: (mailbox, name, input) =>
      calling.admit(mailbox, () => {
        const work = () => accounts.messages.call(mailbox, name, input);
        return limiter.tryRun(work, { owner: mailbox.id }) ?? Promise.reject(busy());
      }),
    readOn: (mailbox, input) =>
      limiter.run(() => accounts.messages.call(mailbox, 'readOctets', input), { owner: mailbox.id }),
    parsing: createAdmission(),
  };
}

/**
 * Returns the login of a request whose key names this mailbox. The rows are read for each request, so that a key ends at once with its
 * mailbox, its membership or its tenant.
 *
 * @throws AppError not_found for every other mailbox; invalid_api_key; restricted_api_key while the mailbox is suspended, and for a test
 * key once the mailbox has an address beyond the sandbox domain; unavailable while it is damaged
 */
export async function openMailbox(app: App, request: FastifyRequest, id: string): Promise<Login> {
  const { mailboxId, keyId, mode } = callerOf(request);
  if (mailboxId === null || keyId === null || mailboxId !== id) throw notFound('Mailbox');
  const login = await renewMarked(app, { mailboxId, credential: keyId, passwordDigest: '' });
  if ('refused' in login) throw refusalOf(login.refused);
  if (mode === 'test') await requireSandbox(app, login.mailbox);
  return login;
}

async function requireSandbox({ db, config }: App, { id }: MailboxRow): Promise<void> {
  const sandbox = sandboxDomain(config);
  const domains = await listDomainsOfMailbox(db.read, id);
  if (domains.every((domain) => domain === sandbox)) return;
  throw new AppError('restricted_api_key', `A test key reaches mailboxes at ${sandbox} alone`);
}

function refusalOf(refused: LoginRefusal): AppError {
  if (refused === 'suspended') return new AppError('restricted_api_key', 'The mailbox is suspended');
  if (refused === 'damaged')
    return new AppError('unavailable', 'The mailbox is damaged; its operator has to repair it');
  return invalidKey();
}
