/** The plans, which limit how much a tenant may send and store. */
import type { Plan } from '../../tenants/admin-schemas.ts';
import { Heading } from '../frame/elements.tsx';
import { Field, Form } from '../frame/forms.tsx';
import { Table } from '../frame/lists.tsx';
import { definePage, fieldOf } from '../page.ts';

const LIMITS = ['monthlyEmails', 'requestsPerSecond', 'storedMegabytes'] as const;

export const plansPage = definePage({
  area: 'operator',
  path: '/plans',
  within: '/tenants',
  async show(context) {
    const { operator, formats, query, path, texts } = context;
    const { tenants, frame } = texts;
    const plans = await operator.get<Plan[]>('/plans');
    const chosen = plans.find(({ name }) => name === query.get('name'));
    const field = { context, action: 'save' };
    return {
      title: tenants.plans,
      body: (
        <>
          <Heading title={tenants.plans}>
            <a href="/operator/tenants">{tenants.title}</a>
          </Heading>
          <Table
            context={context}
            caption={tenants.plans}
            rows={plans}
            keyOf={({ name }) => name}
            columns={[
              { label: tenants.name, cell: ({ name }) => name },
              ...LIMITS.map((limit) => ({
                label: tenants[limit],
                isNumeric: true,
                cell: (plan: Plan) => (plan[limit] === null ? tenants.noLimit : formats.number(plan[limit])),
              })),
              {
                label: frame.actions,
                cell: ({ name }) => (
                  <a
                    href={`${path}?${new URLSearchParams({ name })}#plan`}
                    aria-label={`${frame.edit}: ${name}`}
                  >
                    {frame.edit}
                  </a>
                ),
              },
            ]}
          />
          <h2 id="plan">{tenants.savePlan}</h2>
          <p>{tenants.planText}</p>
          <Form context={context} action="save" submit={tenants.savePlan}>
            <Field {...field} name="name" label={tenants.name} value={chosen?.name} isRequired />
            {LIMITS.map((limit) => (
              <Field
                key={limit}
                {...field}
                name={limit}
                type="number"
                label={tenants[limit]}
                value={chosen?.[limit]?.toString()}
                help={tenants.planHelp}
              />
            ))}
          </Form>
        </>
      ),
    };
  },
  actions: {
    save: {
      logs: ['name', ...LIMITS],
      async run({ operator, path }, form) {
        const limits = LIMITS.map((limit) => {
          const text = fieldOf(form, limit).trim();
          // A value that is not a whole number is passed as it is, so that the operation refuses it.
          return [limit, text === '' ? null : /^\d+$/.test(text) ? Number(text) : text];
        });
        await operator.put('/plans', { name: fieldOf(form, 'name').trim(), ...Object.fromEntries(limits) });
        return { to: path, said: 'saved' };
      },
    },
  },
});
