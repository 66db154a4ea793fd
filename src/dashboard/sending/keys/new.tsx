/** Creates an API key. The key itself is the answer of the form, and is not shown again. */
import type { Static } from 'typebox';
import { sandboxDomain, simulatorDomain } from '../../../domains/name.ts';
import { curlLine, readingCurlLine } from '../../../emails/curl.ts';
import type { Form as SentForm } from '../../../http/pages/form-body.ts';
import { type createdApiKeySchema, REQUIRED_APPROVALS } from '../../../tenants/schemas.ts';
import { Copyable, Heading } from '../../frame/elements.tsx';
import { Field, Form, Select } from '../../frame/forms.tsx';
import { isoTimeOf } from '../../local-time.ts';
import { originOf } from '../../origin.ts';
import { definePage, fieldOf, type TenantContext } from '../../page.ts';
import { type Domain, domainField, readDomain } from '../domains/choice.tsx';
import type { ApiKey } from './list.tsx';

type CreatedKey = Static<typeof createdApiKeySchema>;

const ACTION = 'create';
const PERMISSIONS = ['full_access', 'sending_access', 'read_only'] as const;

export const newKeyPage = definePage({
  area: 'tenant',
  path: '/keys/new',
  needs: 'write',
  async show(context) {
    const { keys } = context.texts;
    const { timeZone } = context.formats;
    const field = { context, action: ACTION };
    const options = PERMISSIONS.map((value) => ({ value, label: keys.permissions[value] }));
    return {
      title: keys.create,
      body: (
        <>
          <Heading title={keys.create} />
          <p>{keys.ofMode[context.mode]}</p>
          <Form context={context} action={ACTION} submit={keys.create}>
            <Field {...field} name="name" label={keys.name} help={keys.nameHelp} isRequired />
            <Select
              {...field}
              name="permission"
              label={keys.permission}
              value="sending_access"
              options={options}
            />
            {await domainField(context, { action: ACTION, help: keys.domainHelp })}
            <ApprovalField {...field} />
            <Field {...field} name="allowedIps" label={keys.addresses} help={keys.addressesHelp} rows={2} />
            <Field
              {...field}
              name="expiresAt"
              type="datetime-local"
              label={keys.expiresIn(timeZone)}
              help={keys.expiresHelp}
            />
          </Form>
        </>
      ),
    };
  },
  actions: {
    [ACTION]: {
      logs: ['name', 'permission', 'domainId', 'requiresApproval', 'allowedIps', 'expiresAt'],
      async run(context, form) {
        const domain = await readDomain(context, form);
        const addresses = fieldOf(form, 'allowedIps')
          .split(/[\s,;]+/)
          .filter((address) => address !== '');
        const expiry = fieldOf(form, 'expiresAt');
        const key = await context.api.post<CreatedKey>('/api-keys', {
          name: fieldOf(form, 'name').trim(),
          permission: fieldOf(form, 'permission'),
          domainId: domain?.id ?? null,
          requiresApproval: approvalIn(form),
          allowedIps: addresses.length === 0 ? null : addresses,
          expiresAt: expiry === '' ? null : isoTimeOf(expiry, context.formats.timeZone),
        });
        return {
          title: context.texts.keys.shownOnce,
          body: <NewKey context={context} created={key} domain={domain} />,
        };
      },
    },
  },
});

type ApprovalProps = { context: TenantContext; action: string; value?: ApiKey['requiresApproval'] };

/** The choice which mail of a key waits until a person approves it. */
export function ApprovalField({ value, ...field }: ApprovalProps) {
  const { keys } = field.context.texts;
  const marks = REQUIRED_APPROVALS.map((mark) => ({ value: mark, label: keys.approvals[mark] }));
  return (
    <Select
      {...field}
      name="requiresApproval"
      label={keys.approval}
      value={value ?? ''}
      help={keys.approvalHelp}
      options={[{ value: '', label: keys.noApproval }, ...marks]}
    />
  );
}

/** Returns the choice as the API takes it. */
export function approvalIn(form: SentForm): string | null {
  const mark = fieldOf(form, 'requiresApproval');
  return mark === '' ? null : mark;
}

type NewKeyProps = { context: TenantContext; created: CreatedKey; domain: Domain | null };

function NewKey({ context, created, domain }: NewKeyProps) {
  const { emails, keys, requests } = context.texts;
  return (
    <>
      <Heading title={keys.shownOnce} />
      <p>{keys.shownOnceText}</p>
      <p>
        <Copyable context={context} text={created.token} />
      </p>
      <h2>{keys.tryIt}</h2>
      <p>{created.permission === 'read_only' ? keys.tryReading : keys.trySending}</p>
      <p>
        <Copyable context={context} text={tryLine(context, { created, domain })} />
      </p>
      <p>
        {keys.thenLook} <a href={context.at('/emails')}>{emails.title}</a>,{' '}
        <a href={context.at('/requests')}>{requests.title}</a>
      </p>
      <p>
        <a href={context.at('/keys')}>{keys.back}</a>
      </p>
    </>
  );
}

/** Returns a command line that works with the key: mail goes to the simulator, from the sandbox or from the only domain of the key. */
function tryLine(
  { app: { config } }: TenantContext,
  { created, domain }: Pick<NewKeyProps, 'created' | 'domain'>,
): string {
  const known = { address: originOf(config), key: created.token };
  if (created.permission === 'read_only') return readingCurlLine(known);
  const from = `hello@${domain?.name ?? sandboxDomain(config)}`;
  return curlLine({ ...known, from, to: `delivered@${simulatorDomain(config)}` });
}
