/**
 * The columns in which other products write who has subscribed and who has left. The sources are the export pages of each
 * product and the files that it writes.
 */

/**
 * How the cells of a column are read.
 * - `status`: a word such as `subscribed` or `blocklisted`.
 * - `subscribed`: true for readers who have subscribed; a status or the time of subscribing is read too.
 * - `unsubscribed`: true for readers who have left; a status or the time of leaving is read too.
 * - `unsubscribedAt`: any time, reason or text means that the reader has left.
 *
 * An empty cell says nothing. A row whose `status` or `subscribed` is empty is refused unless another column says something.
 */
export type ConsentKind = 'status' | 'subscribed' | 'unsubscribed' | 'unsubscribedAt';

/** Columns of each kind. The names are compared in their plain form. */
export const CONSENT_NAMES: Readonly<Record<ConsentKind, readonly string[]>> = {
  status: [
    // listmonk, MailerLite, beehiiv, ActiveCampaign, Kit, AWeber, Drip, EmailOctopus, Flodesk, Sender.
    'status',
    'subscriber status',
    'member status',
    'contact status',
    'list status',
    // Klaviyo.
    'email marketing consent',
    'email marketing',
    'email marketing status',
    // listmonk, Campaign Monitor, Freshsales.
    'subscription status',
    // Square, Wix, Omnisend, Constant Contact.
    'email subscription status',
    'email subscriber status',
    'email status',
    'email permission status',
    // Pipedrive.
    'marketing status',
    'consent status',
    'opt-in status',
    'newsletter status',
  ],
  subscribed: [
    // Ghost; Mailgun, Loops and Plunk; MailerLite writes the time.
    'subscribed to emails',
    'subscribed',
    'is subscribed',
    'email subscribed',
    // Shopify, Squarespace.
    'accepts marketing',
    'accepts email marketing',
    'email opt-in',
    'marketing opt-in',
    'newsletter opt-in',
    'opt-in',
    'opted in',
    'marketing consent',
    'email consent',
    'consent',
    // phpList.
    'confirmed',
    'is confirmed',
    // Lists that are kept in other languages.
    'abonniert',
    'angemeldet',
    'Einwilligung',
    'abonné',
    'inscrit',
    'consentement',
    'suscrito',
    'consentimiento',
    'iscritto',
    'consenso',
    'inscrito',
    'consentimento',
    'ingeschreven',
    'toestemming',
    'samtykke',
    'samtycke',
  ],
  unsubscribed: [
    'unsubscribed',
    'is unsubscribed',
    'unsubscribe',
    'email unsubscribed',
    // HubSpot.
    'unsubscribed from all email',
    'unsubscribed from all emails',
    'hs_email_optout',
    'globally ineligible',
    'is globally ineligible',
    'hs_email_is_ineligible',
    'email address quarantined',
    'hs_email_quarantined',
    'invalid email address',
    // Salesforce, Zoho.
    'email opt out',
    'has opted out of email',
    'opt-out',
    'opted out',
    // Brevo.
    'email blacklisted',
    'email blocklisted',
    'blacklisted',
    'blocklisted',
    'blacklist',
    'blocklist',
    'email blacklist',
    // Substack.
    'email disabled',
    'undeliverable',
    'is undeliverable',
    // Mailjet.
    'is excluded from campaigns',
    'is excluded',
    'excluded',
    // CleverReach.
    'deactivated',
    'do not email',
    'do not mail',
    'suppressed',
    'is suppressed',
    'email suppressed',
    'bounced',
    'is bounced',
    'hard bounced',
    'email bounced',
    'complained',
    'marked as spam',
    'spam complaint',
    'baja',
    'dado de baja',
  ],
  unsubscribedAt: [
    // Mailchimp: the files of unsubscribed and of cleaned members have no other sign.
    'UNSUB_TIME',
    'UNSUB_CAMPAIGN_TITLE',
    'UNSUB_CAMPAIGN_ID',
    'UNSUB_REASON',
    'UNSUB_REASON_OTHER',
    'CLEAN_TIME',
    'CLEAN_CAMPAIGN_TITLE',
    'CLEAN_CAMPAIGN_ID',
    // Constant Contact.
    'confirmed opt-out date',
    'confirmed opt-out source',
    'confirmed opt-out reason',
    // HubSpot: the file of unsubscribes and bounces, and the reason of a hard bounce.
    'portal bounce',
    'portal unsubscribe',
    'portal spam report',
    'global bounce',
    'email hard bounce reason',
    'hs_email_hard_bounce_reason',
    'hs_email_hard_bounce_reason_enum',
    // Klaviyo.
    'suppressions',
    'email suppressions',
    'suppression reason',
    // Mautic writes the number of the reason: 1 unsubscribed, 2 bounced, 3 manual.
    'dnc',
    'do not contact',
    'dnc reason',
    'dnc email',
    // Ghost.
    'deleted at',
    // Salesforce.
    'email bounced reason',
    'email bounced date',
    'bounced at',
    'bounce date',
    'bounce reason',
    'fecha de baja',
    'complained at',
    'suppressed at',
  ],
};

/**
 * Columns that often mean something else, such as the `state` of a postal address, or that Kit, Buttondown, HubSpot and Steady use
 * for the state of a subscription. What is understood counts; any other cell is just a property.
 */
export const AMBIGUOUS_CONSENT_NAMES: Readonly<Partial<Record<ConsentKind, readonly string[]>>> = {
  status: [
    'state',
    'subscriber state',
    'subscription state',
    'subscriber type',
    'marketing contact status',
    'marketing email confirmation status',
  ],
  subscribed: [
    'newsletter',
    'newsletters',
    'nieuwsbrief',
    'nyhetsbrev',
    'boletín',
    'infolettre',
    'рассылка',
    'メルマガ',
    'subscription',
    'active',
    'is active',
    'enabled',
  ],
  unsubscribed: ['disabled', 'is disabled'],
};

/**
 * Headings of opting out that are about mail that could not be delivered, or about a decision of the sender. A no there says nothing about the
 * choice of the reader. A no in the blocklist of Brevo does: it is the only place where Brevo keeps the choice.
 */
export const NOT_OF_THE_READER =
  /bounc|complain|spam|abuse|quarantin|invalid|ineligible|deliver|deactivat|disabled|exclu|suppress|removed|banned|blocked/;

/** A rule for headings that no list names. The first rule whose pattern occurs in the plain form decides. */
type ConsentRule = { pattern: RegExp; kind: ConsentKind | undefined };

/** Stems of opting in, and words that often stand between a stem and the fact that a column is about. */
const OPT_IN = '(?:optin|optedin|consent(?:ed|ement|imiento|imento)?)';
const BETWEEN =
  '(?:email|newsletter|marketing|form|signup|checkbox|landing|privacy|policy|user|verification|confirmation|confirmed|given|granted|signed|updated|changed|collected|obtained|recorded|verified|last|source|method)*';
/** Stems of leaving in several languages, without accents. */
const LEFT = [
  ...['unsub', 'optout', 'optedout', 'optsout', 'blacklist', 'blocklist', 'suppressed', 'suppression'],
  ...['abgemeldet', 'abmeld', 'abbestell', 'gesperrt', 'werbesperre', 'widerspr', 'widerruf', 'robinsonlist'],
  ...['desabonn', 'desinscri', 'disiscri', 'dezabon', 'uitgeschreven', 'uitschrijv', 'afmeld', 'avmeld'],
  ...['avregistr', 'avprenumer', 'avanmal', 'avbestill', 'wypisan', 'odhlas', 'odjav', 'leiratkoz'],
  ...['отпис', '退订', '退訂', '取消订阅', '退会', '配信停止', '配信拒否', '受信拒否', '수신거부'].map(
    (stem) => stem.normalize('NFKD'),
  ),
].join('|');
/** Stems of consent in several languages, without accents. */
const CONSENT = [
  ...['optin', 'optedin', 'consent', 'consenso', 'acceptsmarketing', 'subscribedto', 'einwillig'],
  ...['toestemming', 'samtyk', 'suostumus', 'zgoda', 'souhlas', 'suhlas', 'hozzajarul', 'emailpermission'],
  ...['marketingpermission', 'emailable', 'mailable', 'newslettersubscriber', 'newsletterabon'],
  ...['соглас', 'подписан', '수신동의', '受信許可', '配信許可'].map((stem) => stem.normalize('NFKD')),
].join('|');

/** Other languages and products name such columns by the same few stems. A heading in doubt counts, because its values can be refused. */
export const CONSENT_RULES: readonly ConsentRule[] = [
  // HubSpot has a column for each type of mail, with any name: `Opted out of email: Discount`.
  { pattern: /^optedoutofemail/, kind: 'unsubscribed' },
  // Consent to another channel alone.
  {
    pattern:
      /^(?!.*(?:email|newsletter)).*(?:sms|whatsapp|phone|(?<!auto)mobile|push|(?<!in)voice|fax|postal)/,
    kind: undefined,
  },
  // Brevo says by `DOUBLE_OPT-IN` how a contact has subscribed, not whether.
  { pattern: /^doubleoptin$/, kind: undefined },
  // Facts about the choice, which are not the choice itself, and links.
  {
    pattern: new RegExp(
      `(?:${OPT_IN}|optout|optedout|unsub(?:scribed?)?)${BETWEEN}(?:link|url|token|ip|ipaddress|hash|count|rate|language|version|text|page|form)$`,
    ),
    kind: undefined,
  },
  {
    pattern: new RegExp(
      `${OPT_IN}${BETWEEN}(?:time|timestamp|date|datetime|source|method|through|details?|notes?|remarks?|country|latitude|longitude|at|on|by|id)(?:utc|gmt)?$`,
    ),
    kind: undefined,
  },
  // Results of services that test addresses, which say nothing about consent.
  { pattern: /^(?:e?mail)?(?:address)?(?:verif|valid|deliver)[a-z]*status$/, kind: undefined },
  // Consent that was taken back.
  {
    pattern:
      /(?:consent|optin|permission).*(?:withdr|revo[kc]|denied|declin|refus)|(?:withdr|revo[kc]|refus|den(?:y|ied)).*(?:consent|optin|permission)/,
    kind: 'unsubscribedAt',
  },
  { pattern: /(?:optout|optedout|unsub).*status$/, kind: 'unsubscribed' },
  { pattern: /(?:mail|subscri|newsletter|marketing|consent|optin|suppression).*status$/, kind: 'status' },
  {
    pattern: new RegExp(
      `(?:${LEFT}).*(?:time|date|reason|campaign)|(?:unsubscribed|optedout|optout|listed)(?:at|on)$`,
    ),
    kind: 'unsubscribedAt',
  },
  {
    pattern: /^(?:email|hard|last|spam|abuse)*(?:bounce|complaint)(?:type|date|time|reason|at|on)$/,
    kind: 'unsubscribedAt',
  },
  {
    pattern: new RegExp(
      `${LEFT}|donot(?:e?mail|contact|market|send)|^(?:has|is|wants|send|please)*noe?mails?|nepascontacter|nocontactar|noenviar|keinewerbung|keinnewsletter`,
    ),
    kind: 'unsubscribed',
  },
  {
    pattern:
      /^(?:is|has|email|mail|hard|spam|abuse)*(?:bounces?|bounced|complaints?|complained|spamreports?|blocked|banned|removed|suppress)$/,
    kind: 'unsubscribed',
  },
  { pattern: new RegExp(CONSENT), kind: 'subscribed' },
  // Questions such as `Receives newsletter`, `Allow marketing` and `Can be emailed`.
  {
    pattern:
      /^(?:receives?|wants?|accepts?|allows?|agree[sd]?|can|may)(?:to|be|our|the|get|receive|product|marketing)*(?:e?mail|newsletter|marketing)/,
    kind: 'subscribed',
  },
];
