/**
 * The words by which other products say how a reader stands to their mail. A word that is in no list is refused. The sources are the
 * pages of each product about the states of its contacts, and the values in its exports.
 */

/** How a reader stands to marketing mail. */
export type Standing = 'subscribed' | 'pending' | 'unsubscribed';

/** Words of each standing. They are compared in their plain form. */
export const STANDING_WORDS: Readonly<Record<Standing, readonly string[]>> = {
  subscribed: [
    // Mailchimp, Klaviyo, Brevo, MailerLite, EmailOctopus, Square, Wix.
    'subscribed',
    'subscriber',
    // ActiveCampaign, beehiiv, Kit, Campaign Monitor, Constant Contact, AWeber, Drip.
    'active',
    // listmonk.
    'enabled',
    'confirmed',
    'opt-in',
    'opted in',
    'single opt-in',
    'double opt-in',
    'single opted in',
    'double opted in',
    // Constant Contact: the kinds of permission.
    'express',
    'implied',
    // HubSpot.
    'marketing contact',
    // The channels in the consent of Klaviyo.
    'email',
    'email, sms',
    'sms, email',
    'abonniert',
    'angemeldet',
    'aktiv',
    'bestätigt',
    'abonné',
    'inscrit',
    'actif',
    'suscrito',
    'activo',
    'iscritto',
    'attivo',
    'ingeschreven',
    'actief',
    'inscrito',
    'ativo',
  ],
  pending: [
    // beehiiv, EmailOctopus, Mailchimp.
    'pending',
    'validating',
    // ActiveCampaign, MailerLite, listmonk, Campaign Monitor, Kit.
    'unconfirmed',
    'not confirmed',
    // Buttondown.
    'unactivated',
    // Constant Contact, HubSpot.
    'awaiting confirmation',
    'pending confirmation',
    'waiting for confirmation',
    'double_opt_in_pending',
    'unbestätigt',
    'nicht bestätigt',
    'en attente',
    'pendiente',
    'in attesa',
  ],
  unsubscribed: [
    'unsubscribed',
    'unsubscribe',
    'unsub',
    'globally unsubscribed',
    'opt-out',
    'opted out',
    // listmonk, Brevo.
    'blocklisted',
    'blacklisted',
    'blocked',
    // Kit.
    'cancelled',
    'canceled',
    'complained',
    // beehiiv and Kit, where it means that nobody has confirmed.
    'inactive',
    'paused',
    'invalid',
    // Mailchimp.
    'cleaned',
    'archived',
    'non-subscribed',
    'nonsubscribed',
    'transactional',
    // Klaviyo, Shopify, Wix.
    'never subscribed',
    'not subscribed',
    'suppressed',
    'user suppressed',
    'globally suppressed',
    // ActiveCampaign, MailerLite, Campaign Monitor, Drip.
    'bounced',
    'bounce',
    'hard bounced',
    'hard bounce',
    'soft bounced',
    'soft bounce',
    'junk',
    'deleted',
    'removed',
    'undeliverable',
    // Constant Contact.
    'no permissions set',
    'temp hold',
    'on hold',
    'held',
    // Pipedrive, HubSpot.
    'no consent',
    'non-marketing contact',
    // The channel of a profile of Klaviyo that agreed to text messages alone.
    'sms',
    'spam',
    'spam complaint',
    'spam report',
    'reported spam',
    'marked as spam',
    'complaint',
    'abuse',
    'disabled',
    'deactivated',
    'excluded',
    'declined',
    'rejected',
    'revoked',
    'withdrawn',
    'dnc',
    'do not contact',
    'do not email',
    'abgemeldet',
    'abbestellt',
    'gesperrt',
    'inaktiv',
    'désabonné',
    'désinscrit',
    'inactif',
    'dado de baja',
    'baja',
    'inactivo',
    'disiscritto',
    'inattivo',
    'uitgeschreven',
    'inactief',
    'desinscrito',
    'cancelado',
    'inativo',
  ],
};

/** The words of subscribed readers that make sense in a column of those who have left. `active` there would mean the opposite. */
export const SUBSCRIBED_WORDS_OF_OPT_OUT: readonly string[] = ['subscribed', 'opt-in', 'opted in'];

/**
 * Words that nearly always tell of a reader who has left, in whatever column they stand. A row with one of them in a column that nobody
 * recognised as consent is refused. Words such as `cancelled` are not among them, because an order can be cancelled, too.
 */
export const CLEAR_OPT_OUT_WORDS: readonly string[] = [
  'unsubscribed',
  'blocklisted',
  'blacklisted',
  'opted out',
  'hard bounced',
  'hard bounce',
  'never subscribed',
  'non-subscribed',
  'spam complaint',
];
