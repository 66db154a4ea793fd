/** The plans, which limit how much a tenant may send and store, and say how much of its mail leaves in its turn. */
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
              { label: tenants.weight, isNumeric: true, cell: ({ weight }) => formats.number(weight) },
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
            <Field
              {...field}
              name="weight"
              type="number"
              label={tenants.weight}
              value={(chosen?.weight ?? 1).toString()}
              help={tenants.weightHelp}
              isRequired
            />
          </Form>
        </>
      ),
    };
  },
  actions: {
    save: {
      logs: ['name', ...LIMITS, 'weight'],
      async run({ operator, path }, form) {
        const limits = LIMITS.map((limit) => {
          const text = fieldOf(form, limit).trim();
          return [limit, text === '' ? null : numberIn(text)];
        });
        const weight = numberIn(fieldOf(form, 'weight').trim());
        const name = fieldOf(form, 'name').trim();
        await operator.put('/plans', { name, ...Object.fromEntries(limits), weight });
        return { to: path, said: 'saved' };
      },
    },
  },
});

/** Returns a whole number; any other text as it is, so that the operation refuses it. */
function numberIn(text: string): number | string {
  return /^\d+$/.test(text) ? Number(text) : text;
}
