/** Adds a domain. Its page then shows the records to publish. */
import { Heading } from '../../frame/elements.tsx';
import { Checkbox, Field, Form, Select } from '../../frame/forms.tsx';
import { definePage, fieldOf, type TenantContext } from '../../page.ts';
import type { Domain } from './choice.tsx';

const ACTION = 'add';

export const newDomainPage = definePage({
  area: 'tenant',
  path: '/domains/new',
  needs: 'write',
  async show(context) {
    const { domains } = context.texts;
    const field = { context, action: ACTION };
    return {
      title: domains.add,
      body: (
        <>
          <Heading title={domains.add} />
          <p>{domains.addText}</p>
          <Form context={context} action={ACTION} submit={domains.add}>
            <Field
              {...field}
              name="name"
              label={domains.name}
              help={domains.nameHelp}
              placeholder="news.example.com"
              isRequired
            />
            <PurposeFields context={context} action={ACTION} productType="api" />
            <Checkbox {...field} name="ed25519" label={domains.ed25519} help={domains.ed25519Help} />
          </Form>
        </>
      ),
    };
  },
  actions: {
    [ACTION]: {
      logs: ['name', 'productType', 'region', 'ed25519'],
      async run({ api, at }, form) {
        const { id } = await api.post<Domain>('/domains', {
          name: fieldOf(form, 'name').trim(),
          productType: fieldOf(form, 'productType'),
          region: fieldOf(form, 'region'),
          ed25519: fieldOf(form, 'ed25519') !== '',
        });
        return { to: at(`/domains/${id}`), said: 'domainAdded' };
      },
    },
  },
});

type PurposeProps = {
  context: TenantContext;
  action: string;
  productType: Domain['productType'];
  region?: string;
};

/** The fields that say what a domain is for, and where. */
export function PurposeFields({ context, action, productType, region }: PurposeProps) {
  const { domains } = context.texts;
  const purposes = Object.entries(domains.productTypes).map(([value, label]) => ({ value, label }));
  const known = context.app.config.regions;
  // A region that was removed from the configuration stays the one of its domains.
  const regions = region === undefined || known.includes(region) ? known : [region, ...known];
  return (
    <>
      <Select
        context={context}
        action={action}
        name="productType"
        label={domains.productType}
        value={productType}
        options={purposes}
      />
      {regions.length === 1 ? (
        <input type="hidden" name="region" value={regions[0]} />
      ) : (
        <Select
          context={context}
          action={action}
          name="region"
          label={domains.region}
          value={region ?? known[0]}
          options={regions.map((value) => ({ value, label: value }))}
        />
      )}
    </>
  );
}
