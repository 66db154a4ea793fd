/**
 * The page behind a link that lets somebody in once: it makes the first operator, makes an invited person, sets a new password, or lets a
 * person who is logged in accept an invitation. Looking at the page uses nothing, so programs that check links do not use it up.
 */
import type { LoginLinkRow, PersonRow } from '../../db/people-tables.ts';
import type { Form } from '../../http/pages/form-body.ts';
import { readPassword } from '../../mailboxes/passwords/password.ts';
import { notFound } from '../../system/errors.ts';
import { newId } from '../../system/ids.ts';
import { findTenant } from '../../tenants/store.ts';
import { tenantPath } from '../frame/layout.tsx';
import { CREDENTIAL_FIELD } from '../frame/passkeys.tsx';
import { definePage, fieldOf, type PublicContext } from '../page.ts';
import { readEmail, readName } from '../people/fields.ts';
import { acceptInvitation, findOpenLink, type LinkUse, redeemLink } from '../people/links-store.ts';
import { NO_PASSWORD } from '../people/passkeys-store.ts';
import { findPerson } from '../people/store.ts';
import { hashToken } from '../people/tokens.ts';
import { requireChannel } from './channel.ts';
import { LoggedIn, NewPerson, WrongLink } from './link-forms.tsx';
import { startOf } from './start.ts';

export const linkPage = definePage({
  area: 'public',
  path: '/link/:token',
  async show(context) {
    const { login } = context.texts;
    const link = await findLink(context);
    if (!link) return { title: login.wrongLink, body: <WrongLink context={context} /> };
    const title = titleOf(context, link);
    const viewer = link.email === null ? undefined : await viewerOf(context);
    return {
      title,
      hasPasskeys: true,
      body: (
        <>
          <h1>{title}</h1>
          <p>{await introductionOf(context, link)}</p>
          {viewer ? (
            <LoggedIn context={context} link={link} viewer={viewer} />
          ) : (
            <NewPerson context={context} link={link} />
          )}
        </>
      ),
    };
  },
  actions: {
    enter: {
      async run(context, form) {
        requireChannel(context);
        const { app } = context;
        const link = await findLink(context);
        if (!link) throw notFound('Link');
        const person = { ...identityOf(link, form), id: newId('per', app.clock.now()) };
        const password = readPassword('password', fieldOf(form, 'password'));
        const passwordHash = await app.people.hashPassword(password, person);
        return enter(context, { link, person: { ...person, passwordHash } });
      },
    },
    enterPasskey: {
      async run(context, form) {
        requireChannel(context);
        const { app, origin = '', texts } = context;
        const link = await findLink(context);
        if (!link?.email) throw notFound('Link');
        const person = { ...identityOf(link, form), id: newId('per', app.clock.now()) };
        const made = await app.passkeys.register(fieldOf(form, CREDENTIAL_FIELD), { origin, owner: link.id });
        const passkey = { ...made, name: texts.passkeys.first };
        return enter(context, { link, person: { ...person, passwordHash: NO_PASSWORD }, passkey });
      },
    },
    accept: {
      async run(context) {
        const { app, setSession } = context;
        const link = await findLink(context);
        if (!link) throw notFound('Link');
        const person = await viewerOf(context);
        if (!person) return { to: `/login?to=${encodeURIComponent(context.path)}` };
        const { tokenHash } = link;
        await app.db.commit(acceptInvitation, { tokenHash, now: app.clock.now(), personId: person.id });
        setSession(await app.people.renew(person, context));
        return { to: await placeOf(context, link), acted: { person, tenantId: link.tenantId } };
      },
    },
  },
});

type Entering = Pick<LinkUse, 'person' | 'passkey'> & { link: LoginLinkRow };

/** Uses the link, and begins a session of the person. */
async function enter(context: PublicContext, { link, ...entering }: Entering) {
  const { app, setSession } = context;
  const { tokenHash, tenantId } = link;
  const personId = await app.db.commit(redeemLink, { tokenHash, now: app.clock.now(), ...entering });
  const checked = { passwordHash: entering.person.passwordHash, totpSealed: null };
  const token = await app.people.begin({ personId, mailboxId: null, stage: 'complete', checked }, context);
  setSession(token);
  const person = await findPerson(app.db.read, personId);
  return { to: await startOf(app, token), ...(person && { acted: { person, tenantId } }) };
}

/** Returns the person that is logged in. */
async function viewerOf({ app, sessionToken }: PublicContext): Promise<PersonRow | undefined> {
  const session = sessionToken === undefined ? undefined : await app.people.find(sessionToken);
  if (session?.stage !== 'complete' || session.personId === null) return undefined;
  return findPerson(app.db.read, session.personId);
}

/** Returns the first page of what an invitation has opened. */
async function placeOf({ app }: PublicContext, { tenantId }: LoginLinkRow): Promise<string> {
  const tenant = tenantId === null ? undefined : await findTenant(app.db.read, tenantId);
  return tenant ? tenantPath(tenant.name, 'live') : '/operator';
}

/**
 * Reads the name and the address of a new person. A person who sets a new password keeps its own.
 * @throws AppError validation_error
 */
function identityOf({ personId, email }: LoginLinkRow, form: Form): { email: string; name: string } {
  if (personId !== null) return { email: '', name: '' };
  return { email: email ?? readEmail(fieldOf(form, 'email')), name: readName(fieldOf(form, 'name')) };
}

async function findLink({ app, params }: PublicContext): Promise<LoginLinkRow | undefined> {
  const tokenHash = hashToken(params['token'] ?? '');
  if (tokenHash === undefined) return undefined;
  return findOpenLink(app.db.read, { tokenHash, now: app.clock.now() });
}

function titleOf({ texts: { login } }: PublicContext, { kind }: LoginLinkRow): string {
  switch (kind) {
    case 'set_up':
      return login.setUpTitle;
    case 'invitation':
      return login.invitationTitle;
    case 'recovery':
      return login.recoveryTitle;
  }
}

async function introductionOf(
  { app, texts: { login } }: PublicContext,
  { kind, tenantId }: LoginLinkRow,
): Promise<string> {
  if (kind === 'recovery') return '';
  if (kind === 'set_up') return login.setUpText;
  const tenant = tenantId === null ? undefined : await findTenant(app.db.read, tenantId);
  return tenant ? login.invitationText(tenant.name) : login.operatorInvitation;
}
