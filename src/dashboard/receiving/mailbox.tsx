/**
 * A mailbox, as the administrators of its tenant see it: its addresses, its members, how full it is, its app passwords, and the settings for
 * mail programs. Its mail is seen by its owner alone.
 */

import { path } from '../../http/json/calls.ts';
import { BYTES_PER_MEGABYTE } from '../../tenants/stored-mail/store.ts';
import { Facts, Foreign, Heading, Time } from '../frame/elements.tsx';
import { ActionButton, Checkbox, Disclosure, Field, Form } from '../frame/forms.tsx';
import { shortened } from '../frame/shortened.ts';
import { definePage, fieldOf, linesOf, type TenantContext } from '../page.ts';
import { appPasswordActions, appPasswordSection } from './app-passwords.tsx';
import { mailSessionActions, mailSessionSection } from './mail-sessions.tsx';
import { mailSettings } from './mail-settings.tsx';
import { type Mailbox, MailboxStatus, quotaOf } from './mailboxes.tsx';
import { type RecoveryAddress, RecoveryState, RemoveAddress } from './recovery-address.tsx';
import { Usage } from './usage.tsx';

/** Lines of the fields with addresses. */
const LINES = 4;

/** Returns the path of the mailbox of the page in the API. */
export function baseOf({ params }: Pick<TenantContext, 'params'>): string {
  return path`/mailboxes/${params['id'] ?? ''}`;
}

/** Returns the path of the page of the mailbox. */
export function mailboxPageOf(context: Pick<TenantContext, 'params' | 'at'>): string {
  return context.at(baseOf(context));
}

function placeOf(context: TenantContext) {
  const page = mailboxPageOf(context);
  return { base: baseOf(context), page, appPasswords: `${page}#app-passwords` };
}

export const mailboxPage = definePage({
  area: 'tenant',
  path: '/mailboxes/:id',
  async show(context) {
    const mailbox = await context.api.get<Mailbox>(baseOf(context));
    const { mailboxes, appPasswords } = context.texts;
    const mayChange = context.can('write');
    const place = { ...placeOf(context), members: mailbox.members, mayChange };
    return {
      title: mailbox.address,
      body: (
        <>
          <Heading title={mailbox.address}>
            <a href={`${mailboxPageOf(context)}/imports`}>{mailboxes.imports}</a>
          </Heading>
          <About context={context} mailbox={mailbox} />
          {mayChange && <Change context={context} mailbox={mailbox} />}
          <h2 id="app-passwords">{appPasswords.title}</h2>
          {await appPasswordSection(context, place)}
          {await mailSessionSection(context, place)}
          {mayChange && mailbox.kind === 'personal' && (await recoverySection(context))}
          {await mailSettings(context, baseOf(context))}
          {mayChange && <Remove context={context} mailbox={mailbox} />}
        </>
      ),
    };
  },
  actions: {
    ...appPasswordActions<TenantContext>(placeOf),
    ...mailSessionActions<TenantContext>(placeOf),
    change: {
      logs: ['displayName', 'aliases', 'members', 'quotaMegabytes', 'recovery'],
      async run(context, form) {
        const displayName = fieldOf(form, 'displayName').trim();
        await context.api.patch(baseOf(context), {
          displayName: displayName === '' ? null : displayName,
          aliases: linesOf(form, 'aliases'),
          ...(form.names.includes('members') && { members: linesOf(form, 'members') }),
          // A shared mailbox has no password, and its form no such field.
          ...(!form.names.includes('members') && {
            passwordRecovery: form.values('recovery').includes('on'),
          }),
          ...quotaOf(form),
        });
        return { to: mailboxPageOf(context), said: 'saved' };
      },
    },
    password: {
      async run(context, form) {
        await context.api.patch(baseOf(context), { password: fieldOf(form, 'password') });
        return { to: mailboxPageOf(context), said: 'passwordChanged' };
      },
    },
    removeRecovery: {
      async run(context) {
        await context.api.delete(`${baseOf(context)}/recovery-address`);
        return { to: mailboxPageOf(context), said: 'deleted' };
      },
    },
    suspend: { run: (context) => setStatus(context, 'suspended') },
    resume: { run: (context) => setStatus(context, 'active') },
    delete: {
      async run(context) {
        await context.api.delete(baseOf(context));
        return { to: context.at('/mailboxes'), said: 'deleted' };
      },
    },
  },
});

async function setStatus(context: TenantContext, status: 'active' | 'suspended') {
  await context.api.patch(baseOf(context), { status });
  return { to: mailboxPageOf(context), said: 'saved' as const };
}

/** The address outside that opens the mailbox. Its owner sets it, and whoever manages the mailbox removes it. */
async function recoverySection(context: TenantContext) {
  const { recovery } = context.texts;
  const { address, confirmedAt } = await context.api.get<RecoveryAddress>(
    `${baseOf(context)}/recovery-address`,
  );
  return (
    <>
      <h2>{recovery.title}</h2>
      <RecoveryState context={context} address={address} confirmedAt={confirmedAt} />
      {address !== null && (
        <RemoveAddress context={context} action="removeRecovery" text={recovery.removeByManager} />
      )}
    </>
  );
}

type Props = { context: TenantContext; mailbox: Mailbox };

/** Maximum length of addresses beside the form, which has all of them. */
const MAX_LISTED_CHARACTERS = 1_000;

function listed(addresses: readonly string[], { can }: TenantContext): string {
  const text = addresses.join(', ');
  return can('write') ? shortened(text, MAX_LISTED_CHARACTERS) : text;
}

function About({ context, mailbox }: Props) {
  const { texts, formats } = context;
  const { mailboxes, frame } = texts;
  const { kind, status, displayName, aliases, members, forwardTo, vacation, rules } = mailbox;
  return (
    <Facts
      facts={[
        [mailboxes.displayName, <Foreign text={displayName ?? frame.none} />],
        [mailboxes.kind, mailboxes.kinds[kind]],
        [mailboxes.status, <MailboxStatus context={context} status={status} />],
        [mailboxes.aliases, <Foreign text={listed(aliases, context) || frame.none} />],
        ...(kind === 'shared'
          ? [[mailboxes.members, <Foreign text={listed(members, context) || frame.none} />] as const]
          : []),
        [mailboxes.usage, <Usage context={context} mailbox={mailbox} />],
        [mailboxes.messages, formats.number(mailbox.messageCount)],
        [mailboxes.forwarding, <Foreign text={forwardTo.join(', ') || frame.none} />],
        [mailboxes.vacation, vacation ? frame.yes : frame.no],
        [mailboxes.rules, formats.number(rules.length)],
        [mailboxes.lastLogin, <Time context={context} at={mailbox.lastLoginAt} />],
        [mailboxes.createdAt, <Time context={context} at={mailbox.createdAt} />],
      ]}
    />
  );
}

function Change({ context, mailbox }: Props) {
  const { mailboxes, account, frame } = context.texts;
  const field = { context, action: 'change' };
  const { kind, displayName, aliases, members, quotaBytes, status, passwordRecovery } = mailbox;
  return (
    <div class="buttons">
      <Disclosure label={frame.edit} isOpen={context.failed?.action === 'change'}>
        <Form context={context} action="change" submit={frame.save}>
          <Field {...field} name="displayName" label={mailboxes.displayName} value={displayName ?? ''} />
          <Field
            {...field}
            name="aliases"
            label={mailboxes.aliases}
            help={mailboxes.aliasesHelp}
            value={aliases.join('\n')}
            rows={LINES}
          />
          {kind === 'shared' && (
            <Field
              {...field}
              name="members"
              label={mailboxes.members}
              help={mailboxes.membersHelp}
              value={members.join('\n')}
              rows={LINES}
            />
          )}
          <Field
            {...field}
            name="quotaMegabytes"
            type="number"
            label={mailboxes.quota}
            value={String(quotaBytes / BYTES_PER_MEGABYTE)}
          />
          {kind === 'personal' && (
            <Checkbox
              {...field}
              name="recovery"
              label={mailboxes.passwordRecovery}
              isChecked={passwordRecovery}
              help={mailboxes.passwordRecoveryHelp}
            />
          )}
        </Form>
      </Disclosure>
      {kind === 'personal' && (
        <Disclosure label={mailboxes.newPassword} isOpen={context.failed?.action === 'password'}>
          <Form context={context} action="password" submit={account.changePassword}>
            <p>{mailboxes.newPasswordText}</p>
            <Field
              context={context}
              action="password"
              name="password"
              type="password"
              label={account.newPassword}
              autocomplete="new-password"
              isRequired
            />
          </Form>
        </Disclosure>
      )}
      {status === 'active' && (
        <Disclosure label={mailboxes.suspend} isOpen={context.failed?.action === 'suspend'}>
          <Form context={context} action="suspend" submit={mailboxes.suspend} isDangerous>
            <p>{mailboxes.suspendText}</p>
          </Form>
        </Disclosure>
      )}
      {status === 'suspended' && <ActionButton context={context} action="resume" submit={mailboxes.resume} />}
    </div>
  );
}

function Remove({ context, mailbox }: Props) {
  const { mailboxes, frame } = context.texts;
  return (
    <section aria-labelledby="remove">
      <h2 id="remove">{mailboxes.remove}</h2>
      <Disclosure label={mailboxes.remove} isOpen={context.failed?.action === 'delete'}>
        <Form context={context} action="delete" submit={frame.delete} isDangerous>
          <p>{mailboxes.removeText(mailbox.address, context.formats.number(mailbox.messageCount))}</p>
        </Form>
      </Disclosure>
    </section>
  );
}
