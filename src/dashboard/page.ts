/**
 * A page of the dashboard as a value: its path, who may open it, what it shows, and the actions of its forms. `serve-pages.ts` makes routes of
 * these values, and tests walk through all of them.
 */
import type { Readable } from 'node:stream';
import type { ComponentChildren } from 'preact';
import type { RunningAccounts } from '../accounts/running-accounts.ts';
import type { App } from '../app.ts';
import type { MailboxRow } from '../db/mailbox-tables.ts';
import type { PersonRow, SessionRow } from '../db/people-tables.ts';
import type { Mode } from '../db/tables.ts';
import type { TenantRow } from '../db/tenant-tables.ts';
import type { EventTail } from '../events/tail.ts';
import type { Calls } from '../http/json/calls.ts';
import type { Form } from '../http/pages/form-body.ts';
import type { Authenticate } from '../mailboxes/authenticate.ts';
import type { AppError } from '../system/errors.ts';
import type { Draft, Drafts } from './drafts/drafts.ts';
import type { Formats } from './formats.ts';
import type { KnownAccount } from './people/known-devices.ts';
import type { MailboxRecovery } from './people/mailbox-recovery.ts';
import type { Membership } from './people/memberships-store.ts';
import type { OpenId } from './people/openid.ts';
import type { Passkeys } from './people/passkeys.ts';
import type { People } from './people/people.ts';
import type { Said, Texts } from './texts/texts.ts';

/**
 * Parts of the dashboard by who sees them:
 *
 * - `public`: everybody, before logging in.
 * - `account`: a person, about itself.
 * - `tenant`: the members of a tenant, in one mode.
 * - `operator`: the operators of the installation.
 * - `mailbox`: the owner of a mailbox, logged in with its password.
 */
export type Area = 'public' | 'account' | 'tenant' | 'operator' | 'mailbox';

/** Rights of a member: every role reads; `write` is for admins and owners, and `manage` (people) for owners. */
export type Right = 'read' | 'write' | 'manage';

/** Everything that all pages know. */
export type BaseContext = {
  app: DashboardApp;
  /** Path of the page without its query, encoded. */
  path: string;
  /** Parameters of the path, decoded. */
  params: Readonly<Record<string, string>>;
  /** Values of the query. */
  query: URLSearchParams;
  /** What the action that has led here says. */
  said?: Said;
  texts: Texts;
  formats: Formats;
  /** Origin under which the browser has opened the page; undefined for plain HTTP from elsewhere, where nobody logs in. */
  origin: string | undefined;
  /** IP address of the client. */
  clientAddress: string;
  userAgent: string;
  /** The action that was just refused, whose form shows why, with the values that were entered. */
  failed?: Failed;
  /** Forms that the person has filled in here before, and has not sent. */
  drafts?: readonly Draft[];
};

type Failed = {
  action: string;
  refusal: AppError;
  form: Form;
  /** Set while the page is rendered, once its form is there and shows the reason. */
  isShown?: boolean;
};

export type PublicContext = BaseContext &
  Exchange & {
    /** True for plain HTTP from elsewhere, over which nobody logs in. */
    isPlain: boolean;
  };
export type PersonContext = BaseContext &
  Exchange & { person: PersonRow; session: SessionRow; memberships: readonly Membership[] };
export type TenantContext = PersonContext & {
  tenant: Membership;
  mode: Mode;
  /** Operations of the API, as this person in this tenant and mode. */
  api: Calls;
  /** Returns true when the person has a right in this tenant. */
  can(right: Right): boolean;
  /** Returns the path of another page of this tenant and mode. */
  at(path: string): string;
};
type OperatorContext = PersonContext & {
  /** Operations of the control socket. */
  operator: Calls;
};
type MailboxContext = BaseContext &
  Exchange & {
    mailbox: MailboxRow;
    session: SessionRow;
    /** Operations of the API on this mailbox. Their paths begin behind its id. */
    api: Calls;
  };

/** The browser's cookies, and the changes to them that an answer carries. */
type Exchange = {
  /** Sets the cookie of a session; undefined removes it. */
  setSession(token: string | undefined): void;
  /** Token of the present session. */
  sessionToken: string | undefined;
  /** Tokens of the accounts for which the browser is known. */
  knownDevice: string | undefined;
  /** Lets the browser be known for an account whose login is complete. */
  keepDevice(owner: KnownAccount): void;
  /** Sealed secrets of a login that has begun at a provider of OpenID Connect. */
  openIdLogin: string | undefined;
  /** Keeps the secrets of such a login until it ends; undefined removes them. */
  setOpenIdLogin(sealed: string | undefined): void;
};

/** Contexts by area. */
export type Contexts = {
  public: PublicContext;
  account: PersonContext;
  tenant: TenantContext;
  operator: OperatorContext;
  mailbox: MailboxContext;
};

/** Shows a page. A page with a secret, such as a new API key, is the answer of an action, and is not kept by the browser. */
type View = {
  title: string;
  body: ComponentChildren;
  /** True for a page with charts, which loads what draws them. */
  hasCharts?: boolean;
  /** True for a page that asks for passkeys, which loads what talks to them. */
  hasPasskeys?: boolean;
  /** True for a page that shows something live. */
  isLive?: boolean;
};
/** Leads to another page, where `said` is shown. */
type Redirect = { to: string; said?: Said };
/** Sends a file, which the browser stores. */
type FileAnswer = { file: { name: string; mediaType: string; bytes: Buffer | Readable } };
/** Sends foreign HTML, which is shown in a frame without scripts and without loading anything. */
type FrameAnswer = { frame: string };

/**
 * Adds to the line of an action in the audit log what its page does not know: who logs in, and the tenant that an action of the operator or a link
 * is about, whose owners see it too.
 */
export type Acted = {
  person?: Pick<PersonRow, 'id' | 'name' | 'email' | 'isOperator'>;
  mailbox?: Pick<MailboxRow, 'id' | 'address' | 'tenantId'>;
  tenantId?: TenantRow['id'] | null;
};

/** Begins the line of an action before a login, which calls it once it knows who acts, and before it changes anything. */
export type ActsAs = (acted: Acted) => Promise<void>;

export type Answer = (View | Redirect | FileAnswer | FrameAnswer) & { acted?: Pick<Acted, 'tenantId'> };

export type PageDefinition<Of extends Area = Area> = {
  area: Of;
  /** Path behind the path of the area, such as `/emails/:id`; empty for the page of the area itself. */
  path: string;
  /** Right that the page needs in a tenant; `read` unless it says otherwise. */
  needs?: Right;
  /** Entry of the navigation. Pages without it are reached from others. */
  menu?: { group: MenuGroup; label: (texts: Texts) => string };
  /** Path of the page whose entry stands for this one too, where the path of this one does not begin with it. */
  within?: string;
  show(context: Contexts[Of]): Promise<Answer>;
  /** Actions of its forms, by the name that the form sends. */
  actions?: Readonly<Record<string, Action<Of>>>;
  /** Limits of forms with files. */
  upload?: { maxBytes: number; maxFiles: number };
};

type Action<Of extends Area = Area> = {
  /** Right that the action needs in a tenant; `write` unless it says otherwise. */
  needs?: Right;
  /** False for an action that changes nothing, such as a preview; it is not in the audit log. */
  isAudited?: boolean;
  /** Fields of the form whose values the audit log has: ids and settings, never secrets and never the content of mail. */
  logs?: readonly string[];
  /** Returns what the log has besides, such as the name of the person whose id the form has. It is asked before the action, which may delete it. */
  names?(context: Contexts[Of], form: Form): Promise<Readonly<Record<string, string>>>;
  run(context: Contexts[Of], form: Form, actsAs: ActsAs): Promise<Answer>;
};

/** Groups of the navigation, in their order. */
export const MENU_GROUPS = ['sending', 'marketing', 'receiving', 'operating', 'mailbox', 'settings'] as const;
export type MenuGroup = (typeof MENU_GROUPS)[number];

/** Returns a page; the area decides what it knows. */
export function definePage<Of extends Area>(page: PageDefinition<Of>): PageDefinition<Of> {
  return page;
}

/** Parts of the app that pages use besides the operations of the API: people and their passwords, and nothing else that the API does not have. */
export type DashboardApp = Pick<App, 'clock' | 'config' | 'db' | 'log' | 'wakeups'> & {
  people: People;
  passkeys: Passkeys;
  /** Undefined when the configuration names no provider. */
  openId: OpenId | undefined;
  authenticate: Authenticate;
  /** Reads those facts about the mail of a mailbox that its owner alone may see. The API has no operation for them. */
  accounts: Pick<RunningAccounts, 'listJunkSenders'>;
  recovery: MailboxRecovery;
  drafts: Drafts;
  /** The event log as it grows. */
  tail: EventTail;
};

/** Returns a field of a form; empty when the form does not have it. */
export function fieldOf(form: Form, name: string): string {
  return form.values(name)[0] ?? '';
}

/** Returns the lines of a field, without the empty ones. */
export function linesOf(form: Form, name: string): string[] {
  return fieldOf(form, name)
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
}
