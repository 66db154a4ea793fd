/** The frame of the pages: the bar with the tenant and the mode, the navigation, and the content. */
import type { ComponentChildren } from 'preact';
import { Page } from '../../http/pages/page.tsx';
import { VERSION } from '../../version.ts';
import { ACTION_FIELD } from '../field-names.ts';
import type { BaseContext, Contexts, MenuGroup } from '../page.ts';
import type { Assets } from './assets.ts';
import { UnshownRefusal } from './refusal.tsx';

/** An entry of the navigation. */
export type MenuEntry = {
  group: MenuGroup;
  label: string;
  path: string;
  /** Says whether the page lies in this entry, where its path does not. */
  isPresent?: boolean;
};

/** Part of the context of a page that the frame shows. */
type FrameContext = Pick<BaseContext, 'texts' | 'formats' | 'query' | 'path' | 'said' | 'failed'>;

type LayoutProps = {
  context: FrameContext;
  title: string;
  assets: Assets;
  menu: readonly MenuEntry[];
  /** The person or the mailbox that is logged in; undefined on public pages. */
  viewer?: Viewer;
  hasCharts?: boolean;
  hasPasskeys?: boolean;
  isLive?: boolean;
  children: ComponentChildren;
};

/** Parts of the context of a page that the bar shows. */
export type Viewer =
  | ({ area: 'tenant' } & Pick<Contexts['tenant'], 'person' | 'memberships' | 'tenant' | 'mode'>)
  | ({ area: 'account' | 'operator' } & Pick<Contexts['account'], 'person' | 'memberships'>)
  | ({ area: 'mailbox' } & { address: string });

/** Settings of htmx: the answer to a request that has failed is no part of the page. */
const HTMX = JSON.stringify({
  includeIndicatorCSS: false,
  history: false,
  noSwap: [204, 304, '4xx', '5xx'],
});

/** Returns a whole page. */
export function Layout({
  context,
  title,
  assets,
  menu,
  viewer,
  hasCharts,
  hasPasskeys,
  isLive,
  children,
}: LayoutProps) {
  const { texts, formats, said } = context;
  const { pathOf } = assets;
  const head = (
    <>
      <meta name="htmx-config" content={HTMX} />
      <meta name="version" content={assets.version()} />
      <link rel="icon" href="data:," />
      <link rel="stylesheet" href={pathOf('page.css')} />
      <script src={pathOf('page.js')} defer />
      {hasCharts && <link rel="stylesheet" href={pathOf('chart.css')} />}
      {isLive && <script src={pathOf('live.js')} defer />}
      {hasCharts && <script src={pathOf('chart.js')} defer />}
      {hasPasskeys && <script src={pathOf('passkeys.js')} defer />}
    </>
  );
  // The owner of a mailbox writes no programs.
  const isTechnical = viewer !== undefined && viewer.area !== 'mailbox';
  return (
    <Page title={`${title} – Postrider`} lang={formats.language} head={head}>
      <a class="skip" href="#content">
        {texts.frame.skip}
      </a>
      {viewer && <TopBar context={context} viewer={viewer} />}
      <div class={viewer ? 'shell' : 'narrow'}>
        {viewer && <Menu context={context} menu={menu} />}
        <main
          id="content"
          tabIndex={-1}
          data-offline={texts.frame.error.offline}
          data-broken={texts.frame.error.broken}
          data-outdated={texts.frame.error.updated}
          data-reload={texts.frame.reload}
        >
          {said && (
            <p class="said" role="status" tabIndex={-1}>
              {texts.said[said]}
            </p>
          )}
          {children}
          <UnshownRefusal context={context} />
        </main>
      </div>
      <footer class="foot">
        <span>{texts.frame.version(VERSION)}</span>
        <span>{formats.timeZone}</span>
        {isTechnical && <a href="/docs">{texts.frame.apiReference}</a>}
        {isTechnical && <a href="/docs/guide">{texts.frame.guide}</a>}
      </footer>
    </Page>
  );
}

function TopBar({ context, viewer }: { context: FrameContext; viewer: Viewer }) {
  const { texts } = context;
  return (
    <header class={viewer.area === 'tenant' && viewer.mode === 'test' ? 'top test' : 'top'}>
      <a class="brand" href="/">
        Postrider
      </a>
      <a class="to-menu" href="#menu">
        {texts.frame.menu}
      </a>
      {viewer.area !== 'mailbox' && <Tenants context={context} viewer={viewer} />}
      {viewer.area === 'tenant' && <Modes context={context} viewer={viewer} />}
      <div class="grow">
        <Search context={context} viewer={viewer} />
      </div>
      {viewer.area === 'mailbox' ? (
        <bdi>{viewer.address}</bdi>
      ) : (
        <a href="/account">
          <bdi>{viewer.person.name}</bdi>
        </a>
      )}
      <form method="post" action="/logout">
        <input type="hidden" name={ACTION_FIELD} value="logout" />
        <button type="submit" class="secondary outline">
          {texts.frame.logOut}
        </button>
      </form>
    </header>
  );
}

/** Number of tenants in the top bar of every page. All others are behind a link. */
const SHOWN_TENANTS = 10;

function Tenants({
  context,
  viewer,
}: {
  context: FrameContext;
  viewer: Exclude<Viewer, { area: 'mailbox' }>;
}) {
  const { texts } = context;
  const mode = viewer.area === 'tenant' ? viewer.mode : 'live';
  const present = viewer.area === 'tenant' ? viewer.tenant.tenantId : undefined;
  const { memberships } = viewer;
  // The present one is always there.
  const shown = memberships.filter(({ tenantId }, index) => index < SHOWN_TENANTS || tenantId === present);
  return (
    <nav aria-label={texts.frame.chooseTenant}>
      <ul>
        {shown.map(({ tenantId, tenantName }) => (
          <li key={tenantId}>
            <a href={tenantPath(tenantName, mode)} aria-current={tenantId === present ? 'true' : undefined}>
              <bdi>{tenantName}</bdi>
            </a>
          </li>
        ))}
        {memberships.length > shown.length && (
          <li>
            <a href="/account#tenants">{texts.frame.allTenants}</a>
          </li>
        )}
        {viewer.person.isOperator === 1 && (
          <li>
            <a href="/operator" aria-current={viewer.area === 'operator' ? 'true' : undefined}>
              {texts.frame.operator}
            </a>
          </li>
        )}
      </ul>
    </nav>
  );
}

/** The present mode with what it does, and the link that leads to the other one. */
function Modes({ context, viewer }: { context: FrameContext; viewer: Extract<Viewer, { area: 'tenant' }> }) {
  const { texts, path } = context;
  const { tenant, mode } = viewer;
  const present = tenantPath(tenant.tenantName, mode);
  const other = mode === 'live' ? 'test' : 'live';
  // A page without an id of one mode has the same path in the other one.
  const rest = /_/.test(path.slice(present.length)) ? '' : path.slice(present.length);
  return (
    <nav class="mode" aria-label={texts.frame.chooseMode}>
      <strong class={`status ${mode === 'live' ? 'good' : 'warning'}`}>{texts.frame.modes[mode]}</strong>
      <a href={tenantPath(tenant.tenantName, other) + rest}>{texts.frame.toMode[other]}</a>
    </nav>
  );
}

/** The search box: of everything in a tenant, of tenants for the operator. */
function Search({ context, viewer }: { context: FrameContext; viewer: Viewer }) {
  const { texts, query } = context;
  if (viewer.area !== 'tenant' && viewer.area !== 'operator') return null;
  const { action, name, label } =
    viewer.area === 'tenant'
      ? {
          action: `${tenantPath(viewer.tenant.tenantName, viewer.mode)}/search`,
          name: 'q',
          label: texts.frame.search,
        }
      : { action: '/operator/tenants', name: 'name', label: texts.frame.searchTenants };
  return (
    <search>
      <form method="get" action={action}>
        <input
          type="search"
          id="search"
          name={name}
          value={viewer.area === 'tenant' ? (query.get(name) ?? '') : ''}
          aria-label={label}
          placeholder="Ctrl+K"
          dir="auto"
        />
        <button type="submit" class="secondary outline">
          {label}
        </button>
      </form>
    </search>
  );
}

function Menu({ context, menu }: { context: FrameContext; menu: readonly MenuEntry[] }) {
  const { texts, path } = context;
  const root = menu.map((entry) => entry.path).sort((one, other) => one.length - other.length)[0];
  const current = menu
    .filter(
      (entry) =>
        entry.isPresent ??
        (path === entry.path || (entry.path !== root && path.startsWith(`${entry.path}/`))),
    )
    .sort((one, other) => other.path.length - one.path.length)[0];
  const groups = Map.groupBy(menu, ({ group }) => group);
  return (
    <nav class="menu" id="menu" aria-label={texts.frame.menu}>
      {[...groups].map(([group, entries]) => (
        <section key={group} aria-labelledby={`menu-${group}`}>
          <h2 id={`menu-${group}`}>{texts.frame.groups[group]}</h2>
          <ul>
            {entries.map((entry) => (
              <li key={entry.path}>
                <a href={entry.path} aria-current={entry === current ? 'page' : undefined}>
                  {entry.label}
                </a>
              </li>
            ))}
          </ul>
        </section>
      ))}
    </nav>
  );
}

/** Returns the path of a tenant in a mode. */
export function tenantPath(tenantName: string, mode: 'live' | 'test'): string {
  return `/t/${encodeURIComponent(tenantName)}/${mode}`;
}
