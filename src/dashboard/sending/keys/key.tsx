/** One API key: what it may do, its name, and its end. */
import { path } from '../../../http/json/calls.ts';
import { Facts, Heading, Time } from '../../frame/elements.tsx';
import { Disclosure, Field, Form } from '../../frame/forms.tsx';
import { definePage, fieldOf, type TenantContext } from '../../page.ts';
import { domainNames } from '../domains/choice.tsx';
import type { ApiKey } from './list.tsx';
import { ApprovalField, approvalIn } from './new.tsx';

export const keyPage = definePage({
  area: 'tenant',
  path: '/keys/:id',
  needs: 'write',
  async show(context) {
    const { keys, frame } = context.texts;
    const key = await context.api.get<ApiKey>(pathOf(context));
    const names = await domainNames(context, [key.domainId]);
    const { name, permission, mode, hint, domainId, allowedIps } = key;
    return {
      title: name,
      body: (
        <>
          <Heading title={name}>
            <a href={context.at(`/emails?apiKeyId=${key.id}`)}>{context.texts.emails.title}</a>
            <a href={context.at(`/requests?keyId=${key.id}`)}>{context.texts.requests.title}</a>
          </Heading>
          <Facts
            facts={[
              [keys.hint, <code key="hint">…{hint}…</code>],
              [keys.permission, keys.permissions[permission]],
              [keys.mode, frame[mode]],
              [
                keys.domain,
                domainId === null ? keys.anyDomain : <bdi key="domain">{names.get(domainId)}</bdi>,
              ],
              [keys.addresses, allowedIps?.join(', ') ?? frame.all],
              [keys.createdAt, <Time key="created" context={context} at={key.createdAt} />],
              [keys.lastUsedAt, <Time key="used" context={context} at={key.lastUsedAt} />],
              [keys.expiresAt, <Time key="expires" context={context} at={key.expiresAt} />],
            ]}
          />
          <h2>{keys.change}</h2>
          <Form context={context} action="change" submit={frame.save}>
            <Field context={context} action="change" name="name" label={keys.name} value={name} isRequired />
            <ApprovalField context={context} action="change" value={key.requiresApproval} />
          </Form>
          <h2>{keys.revoke}</h2>
          <Disclosure label={keys.revoke} isOpen={context.failed?.action === 'revoke'}>
            <p>{keys.revokeText}</p>
            <Form context={context} action="revoke" submit={keys.revokeNow} isDangerous>
              {null}
            </Form>
          </Disclosure>
        </>
      ),
    };
  },
  actions: {
    change: {
      logs: ['name', 'requiresApproval'],
      async run(context, form) {
        const name = fieldOf(form, 'name').trim();
        await context.api.patch(pathOf(context), { name, requiresApproval: approvalIn(form) });
        return { to: context.path, said: 'saved' };
      },
    },
    revoke: {
      async run(context) {
        await context.api.delete(pathOf(context));
        return { to: context.at('/keys'), said: 'keyRevoked' };
      },
    },
  },
});

function pathOf({ params }: TenantContext): string {
  return path`/api-keys/${params['id'] ?? ''}`;
}
