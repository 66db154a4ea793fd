/** The settings in effect, each with its meaning and where its value comes from. Nothing is changed here: the file and the environment do that. */
import type { ShownSetting, ShownSettings } from '../../doctor/settings.ts';
import { Facts, Foreign, Heading, Status } from '../frame/elements.tsx';
import { FilterField, FilterSelect, Filters, Table } from '../frame/lists.tsx';
import { type Contexts, definePage } from '../page.ts';

type Context = Contexts['operator'];

const SOURCES = ['default', 'file', 'environment'] as const;

export const settingsPage = definePage({
  area: 'operator',
  path: '/settings',
  menu: { group: 'operating', label: ({ settings }) => settings.title },
  async show(context) {
    const { operator, query, texts } = context;
    const { settings } = texts;
    const shown = await operator.get<ShownSettings>('/settings');
    const found = shown.settings.filter((setting) => isWanted(setting, query));
    const sections = [...new Set(shown.settings.map(({ key }) => sectionOf(key)))];
    const sources = SOURCES.map((value) => ({ value, label: settings.sources[value] }));
    return {
      title: settings.title,
      body: (
        <>
          <Heading title={settings.title} />
          <p>{settings.text}</p>
          <Facts facts={[[settings.file, <Foreign key="" text={shown.file ?? settings.noFile} />]]} />
          <Filters context={context}>
            <FilterField context={context} name="find" label={settings.find} />
            <FilterSelect
              context={context}
              name="section"
              label={settings.section}
              options={sections.map((value) => ({ value, label: value }))}
            />
            <FilterSelect context={context} name="source" label={settings.source} options={sources} />
          </Filters>
          <SettingTable context={context} settings={found} />
        </>
      ),
    };
  },
});

function sectionOf(key: string): string {
  return key.split('.', 1)[0] ?? key;
}

function isWanted({ key, description, source }: ShownSetting, query: URLSearchParams): boolean {
  const text = (query.get('find') ?? '').trim().toLowerCase();
  const section = query.get('section') || sectionOf(key);
  return (
    section === sectionOf(key) &&
    (query.get('source') || source) === source &&
    `${key} ${description}`.toLowerCase().includes(text)
  );
}

function SettingTable({ context, settings: rows }: { context: Context; settings: readonly ShownSetting[] }) {
  const { settings, frame } = context.texts;
  return (
    <Table
      context={context}
      caption={settings.title}
      rows={rows}
      keyOf={({ key }) => key}
      empty={frame.noMatch}
      columns={[
        {
          label: settings.key,
          cell: ({ key, description }) => (
            <>
              <code>{key}</code>
              <small lang="en">{description}</small>
            </>
          ),
        },
        { label: settings.value, cell: (setting) => <Value context={context} setting={setting} /> },
        {
          label: settings.source,
          cell: ({ source, environment }) => (
            <>
              <Status tone={source === 'default' ? 'neutral' : 'good'}>{settings.sources[source]}</Status>
              {source === 'environment' && <code>{environment}</code>}
            </>
          ),
        },
      ]}
    />
  );
}

function Value({ context, setting }: { context: Context; setting: ShownSetting }) {
  const { settings } = context.texts;
  const { value, isSecret, source } = setting;
  return (
    <>
      {isSecret && source !== 'default' ? settings.secret : <Text context={context} value={value} />}
      {source !== 'default' && setting.default !== null && (
        <small>
          {settings.default}: <Text context={context} value={setting.default} />
        </small>
      )}
    </>
  );
}

function Text({ context, value }: { context: Context; value: unknown }) {
  const isEmpty = value === '' || value === null || (Array.isArray(value) && value.length === 0);
  if (isEmpty) return <span class="muted">{context.texts.settings.empty}</span>;
  return <Foreign text={typeof value === 'object' ? JSON.stringify(value) : String(value)} />;
}
