import { type ClientOptions, readSettings } from './options.ts';
import { ApiKeys } from './resources/api-keys.ts';
import { Approvals } from './resources/approvals.ts';
import { Audiences } from './resources/audiences.ts';
import { BrandingResource } from './resources/branding.ts';
import { Broadcasts } from './resources/broadcasts.ts';
import { Contacts } from './resources/contacts.ts';
import { Domains } from './resources/domains.ts';
import { Emails } from './resources/emails.ts';
import { Exports } from './resources/exports.ts';
import { Imports } from './resources/imports.ts';
import { Inbound } from './resources/inbound.ts';
import { Mailboxes } from './resources/mailboxes.ts';
import { MetricsResource } from './resources/metrics.ts';
import { PlanResource } from './resources/plan.ts';
import { RequestLog } from './resources/request-log.ts';
import { Segments } from './resources/segments.ts';
import { Simulator } from './resources/simulator.ts';
import { Suppressions } from './resources/suppressions.ts';
import { Templates } from './resources/templates.ts';
import { Topics } from './resources/topics.ts';
import { Webhooks } from './resources/webhooks.ts';
import { Transport } from './transport.ts';

/**
 * A client of one Postrider server. It may be used by any number of calls at once.
 *
 *     const postrider = new Postrider({ key: 'svc_dev_…', baseUrl: 'https://mail.example.com' });
 */
export class Postrider {
  readonly apiKeys: ApiKeys;
  readonly approvals: Approvals;
  readonly audiences: Audiences;
  readonly branding: BrandingResource;
  readonly broadcasts: Broadcasts;
  readonly contacts: Contacts;
  readonly domains: Domains;
  readonly emails: Emails;
  readonly exports: Exports;
  readonly imports: Imports;
  readonly inbound: Inbound;
  readonly mailboxes: Mailboxes;
  readonly metrics: MetricsResource;
  readonly plan: PlanResource;
  readonly requestLog: RequestLog;
  readonly segments: Segments;
  readonly simulator: Simulator;
  readonly suppressions: Suppressions;
  readonly templates: Templates;
  readonly topics: Topics;
  readonly webhooks: Webhooks;
  readonly #transport: Transport;

  /** Without options, the key and the address are those of `SERVICE_API_KEY` and `SERVICE_BASE_URL`. */
  constructor(options: ClientOptions = {}) {
    const transport = new Transport(readSettings(options));
    this.#transport = transport;
    this.apiKeys = new ApiKeys(transport);
    this.approvals = new Approvals(transport);
    this.audiences = new Audiences(transport);
    this.branding = new BrandingResource(transport);
    this.broadcasts = new Broadcasts(transport);
    this.contacts = new Contacts(transport);
    this.domains = new Domains(transport);
    this.emails = new Emails(transport);
    this.exports = new Exports(transport);
    this.imports = new Imports(transport);
    this.inbound = new Inbound(transport);
    this.mailboxes = new Mailboxes(transport);
    this.metrics = new MetricsResource(transport);
    this.plan = new PlanResource(transport);
    this.requestLog = new RequestLog(transport);
    this.segments = new Segments(transport);
    this.simulator = new Simulator(transport);
    this.suppressions = new Suppressions(transport);
    this.templates = new Templates(transport);
    this.topics = new Topics(transport);
    this.webhooks = new Webhooks(transport);
  }

  /** Ends all calls that are open with an error of the type `closed`, and refuses later ones. Connections belong to the runtime. */
  close(): void {
    this.#transport.close();
  }
}
