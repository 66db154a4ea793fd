/**
 * Logging in at a provider of OpenID Connect: a page that leads there, and the page to which the provider leads back. Nobody is made who
 * comes without an invitation.
 */
import { AppError, notFound } from '../../system/errors.ts';
import { recorded } from '../audit/record.ts';
import { type ActsAs, definePage, type PublicContext } from '../page.ts';
import { findOpenLink, personIdOf, redeemLink } from '../people/links-store.ts';
import type { OpenId, Returned } from '../people/openid.ts';
import { bindAccount, findPersonOfAccount } from '../people/openid-store.ts';
import { NO_PASSWORD } from '../people/passkeys-store.ts';
import { findPerson, findPersonByEmail } from '../people/store.ts';
import { hashToken } from '../people/tokens.ts';
import { TranslatedRefusal } from '../texts/refusal.ts';
import { requireChannel, targetOf } from './channel.ts';
import { placeAfter, viewerOf } from './start.ts';

const RETURN_PATH = '/login/openid/return';

/** Maximum length of a name that a provider tells. Longer ones are cut. */
const MAX_NAME_CHARACTERS = 100;

export const openIdPage = definePage({
  area: 'public',
  path: '/login/openid',
  async show(context) {
    const { openId, origin } = requireOpenId(context);
    const purpose = { to: targetOf(context), invitation: context.query.get('invitation') ?? undefined };
    const { url, sealed } = await saidToReader(context, () => openId.begin(origin + RETURN_PATH, purpose));
    context.setOpenIdLogin(sealed);
    return { to: url };
  },
});

const RETURN_PAGE = { area: 'public', path: RETURN_PATH } as const;

export const openIdReturnPage = definePage({
  ...RETURN_PAGE,
  async show(context) {
    const { openId, origin } = requireOpenId(context);
    context.setOpenIdLogin(undefined);
    const address = new URL(`${origin}${RETURN_PATH}?${context.query}`);
    const returned = await saidToReader(context, () => openId.finish(address, context.openIdLogin));
    return recorded(context.app, { page: RETURN_PAGE, name: 'login', context }, async (actsAs) => {
      const personId =
        (await invitedPerson(context, returned, actsAs)) ?? (await knownPerson(context, returned, actsAs));
      const person = await findPerson(context.app.db.read, personId);
      if (!person) throw notFound('Person');
      const { token, stage } = await context.app.people.beginLogin(person, context);
      context.setSession(token);
      return { to: await placeAfter(context.app, { token, stage, to: returned.to }) };
    });
  },
});

/** @throws AppError not_found without a provider, restricted_api_key over plain HTTP */
function requireOpenId(context: PublicContext): { openId: OpenId; origin: string } {
  const { app, origin } = context;
  requireChannel(context);
  if (!app.openId || origin === undefined) throw notFound('Page');
  return { openId: app.openId, origin };
}

/**
 * Runs a step of the login, and says in the language of the reader why it has failed. A provider says `access_denied` when somebody has canceled
 * the login there.
 */
async function saidToReader<Result>(
  { texts: { login }, query }: PublicContext,
  run: () => Promise<Result>,
): Promise<Result> {
  try {
    return await run();
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    if (error.code === 'unavailable')
      throw new TranslatedRefusal(error.code, login.openIdUnavailable, { cause: error });
    if (error.code !== 'restricted_api_key') throw error;
    const isCanceled = query.get('error') === 'access_denied';
    const message = isCanceled ? login.openIdCanceled : login.openIdRefused;
    throw new TranslatedRefusal(error.code, message, { cause: error });
  }
}

/** Makes the person whom the invitation is for that the login accepts; undefined when it accepts none, or for a person who exists. */
async function invitedPerson(
  { app }: PublicContext,
  { account, name, invitation }: Returned,
  actsAs: ActsAs,
) {
  const tokenHash = invitation === undefined ? undefined : hashToken(invitation);
  const now = app.clock.now();
  const link = tokenHash === undefined ? undefined : await findOpenLink(app.db.read, { tokenHash, now });
  if (tokenHash === undefined || link?.email !== account.email) return undefined;
  if (await findPersonByEmail(app.db.read, account.email)) return undefined;
  const person = {
    id: personIdOf(link),
    email: account.email,
    name: nameOf(name),
    passwordHash: NO_PASSWORD,
  };
  await actsAs({ person: { ...person, isOperator: link.isOperator }, tenantId: link.tenantId });
  return app.db.commit(redeemLink, { tokenHash, now, person, account });
}

function nameOf(text: string): string {
  const name = text
    .toWellFormed()
    .replace(/\p{Cc}/gu, ' ')
    .trim();
  return [...name].slice(0, MAX_NAME_CHARACTERS).join('');
}

/** @throws AppError restricted_api_key */
async function knownPerson(context: PublicContext, { account }: Returned, actsAs: ActsAs) {
  const { app, texts } = context;
  const person = await findPersonOfAccount(app.db.read, account);
  if (person) await actsAs({ person });
  const viewer = await viewerOf(context);
  const personId = await app.db.commit(bindAccount, { account, viewer: viewer?.id });
  if (personId === 'unproven')
    throw new TranslatedRefusal('restricted_api_key', texts.login.openIdUnproven(account.email));
  if (personId === undefined)
    throw new TranslatedRefusal('restricted_api_key', texts.login.openIdUnknown(account.email));
  return personId;
}
