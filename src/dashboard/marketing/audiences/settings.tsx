/** Settings of an audience: its name, double opt-in, and its end. */
import { LANGUAGES } from '../../../audiences/opt-in/settings.ts';
import { path } from '../../../http/json/calls.ts';
import { Heading } from '../../frame/elements.tsx';
import { Checkbox, Disclosure, Field, Form, Select } from '../../frame/forms.tsx';
import { definePage, fieldOf, type TenantContext } from '../../page.ts';
import { listNewest, optionsOf } from '../choices.tsx';
import type { Audience } from './list.tsx';

type Settings = NonNullable<Audience['optIn']>;

export const audienceSettingsPage = definePage({
  area: 'tenant',
  path: '/audiences/:audienceId/settings',
  needs: 'write',
  async show(context) {
    const { api, texts } = context;
    const audience = await api.get<Audience>(pathOf(context));
    const { audiences } = texts;
    return {
      title: `${audience.name}: ${audiences.settings}`,
      body: (
        <>
          <Heading title={`${audience.name}: ${audiences.settings}`} />
          <p>
            <a href={context.at(`/audiences/${audience.id}`)}>{audiences.contacts}</a>
          </p>
          <Form context={context} action="rename" submit={audiences.rename}>
            <Field
              context={context}
              action="rename"
              name="name"
              label={audiences.name}
              value={audience.name}
              isRequired
            />
          </Form>
          <OptIn
            context={context}
            settings={audience.optIn}
            templates={await listNewest(api, '/templates')}
          />
          <h2>{audiences.deletion}</h2>
          <Disclosure label={audiences.deletion} isOpen={context.failed?.action === 'delete'}>
            <p>{audiences.deletionText}</p>
            <Form context={context} action="delete" submit={audiences.deletion} isDangerous>
              {null}
            </Form>
          </Disclosure>
        </>
      ),
    };
  },
  actions: {
    rename: {
      logs: ['name'],
      async run(context, form) {
        await context.api.patch(pathOf(context), { name: fieldOf(form, 'name') });
        return { to: context.path, said: 'saved' };
      },
    },
    optIn: {
      logs: ['isOn', 'optIn.language'],
      async run(context, form) {
        const given = (name: string) => fieldOf(form, `optIn.${name}`).trim() || null;
        const settings = {
          from: given('from') ?? '',
          replyTo: given('replyTo'),
          subject: given('subject'),
          templateId: given('templateId'),
          language: fieldOf(form, 'optIn.language'),
        };
        const optIn = fieldOf(form, 'isOn') === 'on' ? settings : null;
        await context.api.patch(pathOf(context), { optIn });
        return { to: context.path, said: 'saved' };
      },
    },
    delete: {
      async run(context) {
        await context.api.delete(pathOf(context));
        return { to: context.at('/audiences'), said: 'deleted' };
      },
    },
  },
});

function pathOf({ params }: TenantContext): string {
  return path`/audiences/${params['audienceId'] ?? ''}`;
}

type OptInProps = {
  context: TenantContext;
  settings: Settings | null;
  templates: Awaited<ReturnType<typeof listNewest>>;
};

function OptIn({ context, settings, templates }: OptInProps) {
  const { audiences } = context.texts;
  const field = (name: keyof Settings) => ({
    context,
    action: 'optIn',
    name: `optIn.${name}`,
    value: settings?.[name] ?? '',
  });
  const languages = LANGUAGES.map((value) => ({ value, label: audiences.languages[value] }));
  return (
    <section aria-labelledby="opt-in">
      <h2 id="opt-in">{audiences.optIn}</h2>
      <p>{audiences.optInText}</p>
      <Form context={context} action="optIn" submit={context.texts.frame.save}>
        <Checkbox
          context={context}
          action="optIn"
          name="isOn"
          label={audiences.optInOn}
          isChecked={settings !== null}
        />
        <Field {...field('from')} label={audiences.from} help={audiences.fromHelp} />
        <Field {...field('replyTo')} label={audiences.replyTo} />
        <Field {...field('subject')} label={audiences.subject} help={audiences.subjectHelp} />
        {templates.hasMore ? (
          <Field {...field('templateId')} label={audiences.templateId} help={audiences.templateHelp} />
        ) : (
          <Select
            {...field('templateId')}
            label={audiences.template}
            help={audiences.templateHelp}
            options={[{ value: '', label: audiences.noTemplate }, ...optionsOf(templates.data)]}
          />
        )}
        <Select {...field('language')} label={audiences.language} options={languages} />
      </Form>
    </section>
  );
}
