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

/** A rule for headings that no list names. The first rule whose pattern occurs in the plain form decides. */
type ConsentRule = { pattern: RegExp; kind: ConsentKind | undefined };

/** Other languages and products name such columns by the same few stems. */
export const CONSENT_RULES: readonly ConsentRule[] = [
  // Consent to another channel.
  { pattern: /sms|whatsapp|phone|mobile|push|voice|fax|postal/, kind: undefined },
  // Brevo says by `DOUBLE_OPT-IN` how a contact has subscribed, not whether.
  { pattern: /^doubleoptin$/, kind: undefined },
  // Facts about the choice, which are not the choice itself, and links.
  {
    pattern: /(?:link|url|token|ip|ipaddress|hash|count|rate|language|version|text|page|form)$/,
    kind: undefined,
  },
  {
    pattern:
      /(?:optin|optedin|consent).*(?:time|date|source|method|detail|note|country|latitude|longitude|(?:at|on|by|id)$)/,
    kind: undefined,
  },
  // Results of services that test addresses, which say nothing about consent.
  { pattern: /verif|valid|deliver/, kind: undefined },
  { pattern: /(?:mail|subscri|newsletter|marketing|consent|optin).*status$/, kind: 'status' },
  // HubSpot has a column for each type of mail: `Opted out of email: Marketing Information`.
  { pattern: /^optedoutofemail/, kind: 'unsubscribed' },
  {
    pattern:
      /(?:unsub|optout|optedout|optsout|blacklist|blocklist|abgemeldet|abmeld|desabonn|desinscri|disiscri|uitgeschreven|отпис).*(?:time|date|reason|campaign)|(?:unsubscribed|optedout|optout|listed)(?:at|on)$/,
    kind: 'unsubscribedAt',
  },
  {
    pattern:
      /unsub|optout|optedout|optsout|donotemail|donotmail|donotcontact|noemail|blacklist|blocklist|suppressed|abgemeldet|abmeld|desabonn|desinscri|disiscri|uitgeschreven|отпис/,
    kind: 'unsubscribed',
  },
  { pattern: /optin|optedin|consent|acceptsmarketing|subscribedto/, kind: 'subscribed' },
];
