/** Deletes a tenant: the page counts what it owns, asks for its name, and shows what is left while it is deleted. */

import { path } from '../../http/json/calls.ts';
import type { TenantHoldings } from '../../tenant-control/admin-api.ts';
import { countText, MAX_COUNTED } from '../frame/counted.ts';
import { Facts, Heading } from '../frame/elements.tsx';
import { Field, Form } from '../frame/forms.tsx';
import { definePage, fieldOf } from '../page.ts';
import { TranslatedRefusal } from '../texts/refusal.ts';
import { findShownTenant } from './find-tenant.ts';

const OWNED = [
  ...(['domains', 'apiKeys', 'mailboxes', 'messages'] as const),
  ...(['receivedMessages', 'contacts', 'broadcasts', 'suppressions'] as const),
];

export const tenantDeletePage = definePage({
  area: 'operator',
  path: '/tenants/:id/delete',
  async show(context) {
    const { operator, texts } = context;
    const { tenants } = texts;
    const { id, name, status } = await findShownTenant(context);
    const { holdings } = await operator.get<TenantHoldings>(path`/tenants/${id}/holdings`, {
      maximum: MAX_COUNTED,
    });
    const isGoing = status === 'deleting';
    const title = tenants.deleteTitle(name);
    return {
      title,
      body: (
        <>
          <Heading title={title}>
            <a href={`/operator/tenants/${id}`}>{tenants.back}</a>
          </Heading>
          <p>{isGoing ? tenants.deleting : tenants.deleteText}</p>
          {holdings !== null && (
            <Facts facts={OWNED.map((what) => [tenants.owned[what], countText(context, holdings[what])])} />
          )}
          {!isGoing && (
            <Form context={context} action="delete" submit={tenants.delete} isDangerous>
              <Field
                context={context}
                action="delete"
                name="name"
                label={tenants.deleteName}
                autocomplete="off"
                isRequired
              />
            </Form>
          )}
        </>
      ),
    };
  },
  actions: {
    delete: {
      async run(context, form) {
        const { id, name } = await findShownTenant(context);
        if (fieldOf(form, 'name') !== name)
          throw new TranslatedRefusal('validation_error', context.texts.tenants.wrongName, { param: 'name' });
        await context.operator.post(path`/tenants/${id}/deletion`);
        return { to: context.path, acted: { tenantId: id } };
      },
    },
  },
});
