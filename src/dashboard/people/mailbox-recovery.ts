/**
 * The address outside with which the owner of a mailbox sets a new password: it is confirmed by a link that is mailed to it, and then gets a
 * link whenever somebody has forgotten the password. Whoever asks for a link learns nothing, not even by the time of the answer. People of the
 * dashboard have nothing of this: their login depends on no mail.
 */
import type { RunningAccounts } from '../../accounts/running-accounts.ts';
import type { App } from '../../app.ts';
import type { MailboxRecoveryRow, MailboxRow } from '../../db/mailbox-tables.ts';
import { isSandboxDomain } from '../../domains/sender.ts';
import { addressKey, type Mailbox, parseMailbox } from '../../mail/address.ts';
import { readAccount } from '../../mailboxes/address.ts';
import { findAddressOwner } from '../../mailboxes/addresses/store.ts';
import { derivePassword } from '../../mailboxes/passwords/derive.ts';
import { readPassword } from '../../mailboxes/passwords/password.ts';
import {
  confirmByLink,
  findRecovery,
  findRecoveryByLink,
  putRecovery,
  putRecoveryLink,
  resetByLink,
} from '../../mailboxes/recovery/store.ts';
import { findMailboxByAddress, findMailboxById } from '../../mailboxes/store.ts';
import { addressSite } from '../../system/address-block.ts';
import { AppError, invalid, notFound } from '../../system/errors.ts';
import { createTokenBuckets } from '../../system/guards/token-buckets.ts';
import { findTenantStatus } from '../../tenants/store.ts';
import { TranslatedRefusal } from '../texts/refusal.ts';
import type { Texts } from '../texts/texts.ts';
import { buildLinkMail, buildNotice } from './recovery-mail.ts';
import { hashToken } from './tokens.ts';

/** Maximum rates of mails: for a mailbox, for the network of whoever asks, and of all mailboxes, an hour. Our own limits. */
const MAILBOX_RATE = { burst: 3, tokensPerSecond: 3 / 3_600 };
const NETWORK_RATE = { burst: 10, tokensPerSecond: 10 / 3_600 };
const TOTAL_RATE = { burst: 200, tokensPerSecond: 200 / 3_600 };
/** Maximum number of mailboxes, and of networks, that are counted. When more are active at once, some may exceed their rate. */
const MAX_COUNTED = 10_000;

type RecoveryApp = App & { accounts: RunningAccounts };
type RecoveryTexts = Texts['recovery'];

/** A link that somebody has opened. It confirms the address, or sets a new password of the mailbox. */
type OpenedLink = { kind: 'confirm' | 'reset'; mailbox: MailboxRow; recovery: MailboxRecoveryRow };

export type MailboxRecovery = {
  /** Returns true for a mailbox whose owner may set a new password by a link. */
  isOffered(mailbox: MailboxRow): boolean;
  /**
   * Sets the address of a mailbox, and mails the link that confirms it.
   * @throws AppError validation_error, invalid_state where it is not offered, rate_limited
   */
  set(mailbox: MailboxRow, address: string, texts: RecoveryTexts): Promise<void>;
  /** Mails a link for a new password, if the mailbox has a confirmed address and the limits allow it. Nobody waits for it or learns of it. */
  ask(asked: { address: string; clientAddress: string }, texts: RecoveryTexts): void;
  /** Resolves when no request is under way: the daemon ends after the mail that it has promised. */
  settled(): Promise<void>;
  /** Returns what a link is for; undefined for one that does not work any more. */
  open(token: string): Promise<OpenedLink | undefined>;
  /**
   * Confirms the address, and tells the mailbox.
   * @throws AppError not_found
   */
  confirm(token: string, texts: RecoveryTexts): Promise<MailboxRow>;
  /**
   * Sets the new password, ends all sessions, and tells the mailbox.
   * @throws AppError not_found, validation_error, unavailable
   */
  reset(token: string, password: string, texts: RecoveryTexts): Promise<MailboxRow>;
};

/** Returns the recovery of mailboxes, where nobody has asked for anything yet. */
export function createMailboxRecovery(app: RecoveryApp): MailboxRecovery {
  const { db, clock } = app;
  const limits = createLimits(app);
  const pending = new Set<Promise<void>>();

  async function open(token: string): Promise<OpenedLink | undefined> {
    const linkHash = hashToken(token);
    if (linkHash === undefined) return undefined;
    const recovery = await findRecoveryByLink(db.read, { linkHash, now: clock.now() });
    const mailbox = recovery && (await findMailboxById(db.read, recovery.mailboxId));
    if (!mailbox || !(await isUsable(app, mailbox))) return undefined;
    return { kind: recovery.confirmedAt === null ? 'confirm' : 'reset', mailbox, recovery };
  }

  /** Returns the mailbox of a link of this kind, and what the writes that use the link need. */
  async function prepare(token: string, kind: OpenedLink['kind'], wordsOf: RecoveryTexts['changedMail']) {
    const opened = await open(token);
    if (opened?.kind !== kind) throw notFound('Link');
    const { mailbox } = opened;
    const notice = await buildNotice(app, mailbox.address, wordsOf(mailbox.address));
    return { mailbox, use: { linkHash: hashToken(token) ?? '', now: clock.now(), notice } };
  }

  return {
    isOffered: (mailbox) => isOffered(app, mailbox),
    async set(mailbox, address, texts) {
      if (!isOffered(app, mailbox)) throw new TranslatedRefusal('invalid_state', texts.notOffered);
      const to = await readRecoveryAddress(app, mailbox, address);
      if (!limits.mayMail(mailbox)) throw new TranslatedRefusal('rate_limited', texts.tooMany);
      const link = await buildLinkMail(app, to, (url) => texts.confirmMail(mailbox.address, url));
      const row = { mailboxId: mailbox.id, address: to.address, createdAt: clock.now() };
      await db.commit(putRecovery, { ...row, ...link });
      app.wakeups.notify('queue');
    },
    ask(asked, texts) {
      const sending = mailNewPassword(app, limits, { ...asked, texts })
        .catch((error) => {
          if (!(error instanceof AppError))
            app.log.error({ err: error }, 'a link for a new password was not mailed');
        })
        .finally(() => pending.delete(sending));
      pending.add(sending);
    },
    async settled() {
      await Promise.all(pending);
    },
    open,
    async confirm(token, texts) {
      const { mailbox, use } = await prepare(token, 'confirm', texts.confirmedMail);
      await db.commit(confirmByLink, use);
      app.wakeups.notify('queue');
      return mailbox;
    },
    async reset(token, password, texts) {
      // A password that is refused, or that cannot be hashed now, leaves the link as it is.
      const wanted = readPassword('password', password);
      const { mailbox, use } = await prepare(token, 'reset', texts.changedMail);
      const { id, tenantId, scramSalt: salt, scramVerifier } = mailbox;
      const hasScram = scramVerifier !== null;
      const derived = await derivePassword(wanted, { owner: tenantId, salt, hasScram });
      await db.commit(resetByLink, { ...use, mailbox: { id, tenantId }, password: derived });
      await app.accounts.disconnect(id);
      app.wakeups.notify('queue');
      return mailbox;
    },
  };
}

type Limits = {
  /** Counts a mail about a mailbox. Returns false when it, or all together, have had too many. */
  mayMail(mailbox: MailboxRow): boolean;
  /** Counts a request of this client. Returns false when its network has made too many. */
  mayAsk(clientAddress: string): boolean;
};

function createLimits({ clock }: Pick<App, 'clock'>): Limits {
  const mailboxes = createTokenBuckets(clock, MAX_COUNTED);
  const networks = createTokenBuckets(clock, MAX_COUNTED);
  const total = createTokenBuckets(clock, 1);
  return {
    mayMail: ({ id }) => mailboxes.take(id, MAILBOX_RATE).allowed && total.take('', TOTAL_RATE).allowed,
    mayAsk: (clientAddress) => networks.take(addressSite(clientAddress), NETWORK_RATE).allowed,
  };
}

/** Returns true for a mailbox that may have an address. Those of the sandbox send nothing to the world. */
function isOffered({ config }: Pick<App, 'config'>, mailbox: MailboxRow): boolean {
  const { kind, passwordLogin, passwordRecovery, domain } = mailbox;
  const hasPassword = kind === 'personal' && passwordLogin === 1;
  return hasPassword && passwordRecovery === 1 && !isSandboxDomain(config, domain);
}

/** Returns true while links of a mailbox work: its owner could log in. */
async function isUsable(app: Pick<App, 'config' | 'db'>, mailbox: MailboxRow): Promise<boolean> {
  if (!isOffered(app, mailbox) || mailbox.status !== 'active') return false;
  return (await findTenantStatus(app.db.read, mailbox.tenantId)) === 'active';
}

/**
 * Reads the address that the owner of a mailbox wants.
 * @throws AppError validation_error
 */
async function readRecoveryAddress(
  { db }: Pick<App, 'db'>,
  mailbox: MailboxRow,
  text: string,
): Promise<Mailbox> {
  const to = parseMailbox(text.trim());
  if (!to || to.name !== undefined)
    throw invalid('address', '`address` must be one address such as ann@example.com');
  const owner = await findAddressOwner(db.read, addressKey(to.address));
  if (owner?.id === mailbox.id) throw invalid('address', '`address` must be outside of this mailbox');
  return to;
}

type Asked = { address: string; clientAddress: string; texts: RecoveryTexts };

/** Mails a link for a new password, if there is a mailbox with a confirmed address, and the limits allow it. */
async function mailNewPassword(
  app: RecoveryApp,
  limits: Limits,
  { address, clientAddress, texts }: Asked,
): Promise<void> {
  const { read } = app.db;
  const { account, isAddress } = readAccount(address);
  if (!isAddress || !limits.mayAsk(clientAddress)) return;
  const mailbox = await findMailboxByAddress(read, account);
  const recovery = mailbox && (await findRecovery(read, mailbox.id));
  const to = recovery && parseMailbox(recovery.address);
  if (!mailbox || !to || recovery.confirmedAt === null) return;
  if (!(await isUsable(app, mailbox)) || !limits.mayMail(mailbox)) return;
  const link = await buildLinkMail(app, to, (url) => texts.resetMail(mailbox.address, url));
  await app.db.commit(putRecoveryLink, { mailboxId: mailbox.id, address: recovery.address, ...link });
  app.wakeups.notify('queue');
}
