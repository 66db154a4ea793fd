/**
 * The page behind a link that lets somebody in once: it makes the first operator, makes an invited person, sets a new password, or lets a
 * person who is logged in accept an invitation. Looking at the page uses nothing, so programs that check links do not use it up.
 */
import type { LoginLinkRow, PersonRow } from '../../db/people-tables.ts';
import type { Form } from '../../http/pages/form-body.ts';
import { readPassword } from '../../mailboxes/passwords/password.ts';
import { notFound } from '../../system/errors.ts';
import { findTenant } from '../../tenants/store.ts';
import { tenantPath } from '../frame/layout.tsx';
import { CREDENTIAL_FIELD } from '../frame/passkeys.tsx';
import { definePage, fieldOf, type PublicContext } from '../page.ts';
import { readEmail, readName } from '../people/fields.ts';
import {
  acceptInvitation,
  findOpenLink,
  type LinkUse,
  personIdOf,
  redeemLink,
} from '../people/links-store.ts';
import { NO_PASSWORD } from '../people/passkeys-store.ts';
import { findPerson } from '../people/store.ts';
import { hashToken } from '../people/tokens.ts';
import { requireChannel } from './channel.ts';
import { LoggedIn, NewPerson, WrongLink } from './link-forms.tsx';
import { startOf, viewerOf } from './start.ts';

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
      async run(context, form, actsAs) {
        requireChannel(context);
        const { app } = context;
        const link = await findLink(context);
        if (!link) throw notFound('Link');
        const person = await personBehind(context, link, form);
        const password = readPassword('password', fieldOf(form, 'password'));
        const passwordHash = await app.people.hashPassword(password, person);
        await actsAs({ person: { ...person, isOperator: link.isOperator }, tenantId: link.tenantId });
        return enter(context, { link, person: { ...person, passwordHash } });
      },
    },
    enterPasskey: {
      async run(context, form, actsAs) {
        requireChannel(context);
        const { app, origin = '', texts } = context;
        const link = await findLink(context);
        if (!link?.email) throw notFound('Link');
        const person = await personBehind(context, link, form);
        const made = await app.passkeys.register(fieldOf(form, CREDENTIAL_FIELD), { origin, owner: link.id });
        const passkey = { ...made, name: texts.passkeys.first };
        await actsAs({ person: { ...person, isOperator: link.isOperator }, tenantId: link.tenantId });
        return enter(context, { link, person: { ...person, passwordHash: NO_PASSWORD }, passkey });
      },
    },
    accept: {
      async run(context, _form, actsAs) {
        const { app, setSession, keepDevice } = context;
        const link = await findLink(context);
        if (!link) throw notFound('Link');
        const person = await viewerOf(context);
        if (!person) return { to: `/login?to=${encodeURIComponent(context.path)}` };
        const { tokenHash, tenantId } = link;
        await actsAs({ person, tenantId });
        await app.db.commit(acceptInvitation, { tokenHash, now: app.clock.now(), personId: person.id });
        setSession(await app.people.renew(person, context));
        keepDevice({ kind: 'person', account: person.email });
        return { to: await placeOf(context, link) };
      },
    },
  },
});

type Entering = Pick<LinkUse, 'person' | 'passkey'> & { link: LoginLinkRow };

/** Uses the link, and begins a session of the person. */
async function enter(context: PublicContext, { link, ...entering }: Entering) {
  const { app, setSession, keepDevice } = context;
  const { tokenHash } = link;
  const personId = await app.db.commit(redeemLink, { tokenHash, now: app.clock.now(), ...entering });
  const checked = { passwordHash: entering.person.passwordHash, totpSealed: null };
  // A passkey is more than a password and a code.
  const stage = link.kind === 'invitation' && !entering.passkey ? 'set_up' : 'complete';
  const token = await app.people.begin({ personId, mailboxId: null, stage, checked }, context);
  setSession(token);
  if (stage === 'complete') keepDevice({ kind: 'person', account: entering.person.email });
  return { to: await startOf(app, token) };
}

/** Returns the first page of what an invitation has opened. */
async function placeOf({ app }: PublicContext, { tenantId }: LoginLinkRow): Promise<string> {
  const tenant = tenantId === null ? undefined : await findTenant(app.db.read, tenantId);
  return tenant ? tenantPath(tenant.name, 'live') : '/operator';
}

/**
 * Returns the person that a link makes, with the name and the address of the form, or the one that sets a new password.
 * @throws AppError validation_error, not_found
 */
async function personBehind(
  { app }: PublicContext,
  link: LoginLinkRow,
  form: Form,
): Promise<Pick<PersonRow, 'id' | 'email' | 'name'>> {
  if (link.personId === null) {
    const email = link.email ?? readEmail(fieldOf(form, 'email'));
    return { id: personIdOf(link), email, name: readName(fieldOf(form, 'name')) };
  }
  const person = await findPerson(app.db.read, link.personId);
  if (!person) throw notFound('Person');
  const { id, email, name } = person;
  return { id, email, name };
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
