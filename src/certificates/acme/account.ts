/** The account with an authority (RFC 8555 section 7.3). Its key is made once and kept sealed in the database. */
import { readFileSync } from 'node:fs';
import type { App } from '../../app.ts';
import type { AcmeAccountRow } from '../../db/own-tables.ts';
import { errorMessage } from '../../system/errors.ts';
import { generateCertificateKey } from '../new-key.ts';
import { AcmeError } from './acme-error.ts';
import { type Authority, requireUrl } from './authority.ts';
import { type AccountKey, bindExternalAccount, type ExternalAccount, readAccountKey } from './jose.ts';
import type { Account } from './order.ts';
import { findAccount, insertAccount, setAccountUrl } from './store.ts';

type AccountApp = Pick<App, 'clock' | 'config' | 'db' | 'sealer'>;

/** First part of the associated data of the sealed key. The second one is the directory of the authority. */
const SEALED_FOR = 'acme account';

/**
 * Returns the account, which is made at the first order of all. A key without account, which a crash has left, gets its account
 * now; when the authority knows the key already, it answers with the account that there is.
 * @throws AcmeError
 */
export async function openAccount(app: AccountApp, authority: Authority): Promise<Account> {
  const { directoryUrl: directory } = authority;
  const row = (await findAccount(app.db.read, directory)) ?? (await createKey(app, directory));
  const key = openAccountKey(app, row);
  if (row.url !== null) return { key, accountUrl: row.url };
  const accountUrl = await register(app, authority, key);
  const [issuer = null] = (await authority.directory()).caaIdentities;
  await app.db.commit(setAccountUrl, { directory, url: accountUrl, issuer });
  return { key, accountUrl };
}

/**
 * Opens the key of an account. One that cannot be opened is not replaced by itself, because DNS records may allow this account alone.
 * @throws AcmeError when the key was damaged, or sealed with another master key
 */
function openAccountKey(
  { sealer }: Pick<App, 'sealer'>,
  { directory, privateKeySealed }: Pick<AcmeAccountRow, 'directory' | 'privateKeySealed'>,
): AccountKey {
  try {
    return readAccountKey(sealer.open(privateKeySealed, [SEALED_FOR, directory]));
  } catch (cause) {
    throw new AcmeError(
      'accountKey',
      `the key of the account with ${directory} cannot be opened: restore the database and the master.key of one backup, or make another account with "postrider certificates new-account"`,
      { cause },
    );
  }
}

/** Forgets an account that the authority no longer knows. The next order makes another one with the same key. */
export async function forgetAccount({ db }: Pick<App, 'db'>, directory: string): Promise<void> {
  await db.commit(setAccountUrl, { directory, url: null, issuer: null });
}

async function createKey({ db, sealer, clock }: AccountApp, directory: string) {
  const privateKeySealed = sealer.seal(await generateCertificateKey('ec'), [SEALED_FOR, directory]);
  return db.commit(insertAccount, {
    directory,
    url: null,
    issuer: null,
    privateKeySealed,
    createdAt: clock.now(),
  });
}

/** @throws AcmeError when the file of the key cannot be read */
function readExternalAccount({
  keyId,
  hmacKeyFile,
}: App['config']['acme']['externalAccount']): ExternalAccount {
  try {
    return { keyId, hmacKey: readFileSync(hmacKeyFile, 'utf8').trim() };
  } catch (error) {
    throw new AcmeError(
      'externalAccount',
      `acme.externalAccount.hmacKeyFile cannot be read: ${errorMessage(error)}`,
      {
        cause: error,
      },
    );
  }
}

async function register({ config }: AccountApp, authority: Authority, key: Account['key']): Promise<string> {
  const { email, externalAccount } = config.acme;
  const { newAccount: url, needsExternalAccount } = await authority.directory();
  const hasExternal = externalAccount.keyId !== '';
  if (needsExternalAccount && !hasExternal)
    throw new AcmeError(
      'externalAccountRequired',
      'the authority asks for an external account: set acme.externalAccount.keyId and acme.externalAccount.hmacKeyFile',
    );
  const payload = {
    // The configuration is not loaded without this agreement (config/acme.ts).
    termsOfServiceAgreed: true,
    ...(email !== '' && { contact: [`mailto:${email}`] }),
    ...(hasExternal && {
      externalAccountBinding: bindExternalAccount(readExternalAccount(externalAccount), { url, key }),
    }),
  };
  const { location } = await authority.post({ key, accountUrl: undefined }, url, {
    doing: 'an account',
    payload,
  });
  return requireUrl(location, authority.directoryUrl, 'the account');
}
