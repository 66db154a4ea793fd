/** Heading lines that other products write into their exports, each with one row and the contact that it describes. */

type Expected = {
  firstName?: string | null;
  lastName?: string | null;
  status?: 'subscribed' | 'unsubscribed' | 'pending';
  properties?: Record<string, unknown>;
};

/** The address of each row is ada@example.com. */
export const PRODUCT_FILES: Readonly<Record<string, { file: string | Buffer; expected: Expected }>> = {
  'Mailchimp, subscribed members': {
    file:
      '"Email Address","First Name","Last Name",Address,"Phone Number",MEMBER_RATING,OPTIN_TIME,OPTIN_IP,CONFIRM_TIME,CONFIRM_IP,LATITUDE,LONGITUDE,GMTOFF,DSTOFF,TIMEZONE,CC,REGION,LAST_CHANGED,LEID,EUID,NOTES,TAGS\r\n' +
      'ada@example.com,Ada,Byron,,,2,"2026-01-02 03:04:05",,"2026-01-02 03:04:05",192.0.2.1,,,,,,,,"2026-01-02 03:04:05",1,abc,,"""VIP"""\r\n',
    expected: {
      ...{ firstName: 'Ada', lastName: 'Byron', status: 'subscribed' },
      properties: {
        ...{ MEMBER_RATING: '2', OPTIN_TIME: '2026-01-02 03:04:05', CONFIRM_TIME: '2026-01-02 03:04:05' },
        ...{ CONFIRM_IP: '192.0.2.1', LAST_CHANGED: '2026-01-02 03:04:05', LEID: '1', EUID: 'abc' },
        TAGS: '"VIP"',
      },
    },
  },
  'Mailchimp, unsubscribed members': {
    file:
      '"Email Address","First Name","Last Name",OPTIN_TIME,CONFIRM_TIME,UNSUB_TIME,UNSUB_CAMPAIGN_TITLE,UNSUB_CAMPAIGN_ID,UNSUB_REASON,UNSUB_REASON_OTHER,LEID,EUID,NOTES,TAGS\n' +
      'ada@example.com,Ada,Byron,,"2026-01-02 03:04:05","2026-02-03 04:05:06",News,c1,NORMAL,,1,abc,,\n',
    expected: { firstName: 'Ada', status: 'unsubscribed' },
  },
  'Mailchimp, cleaned members': {
    file:
      '"Email Address","First Name","Last Name",CONFIRM_TIME,CLEAN_TIME,CLEAN_CAMPAIGN_TITLE,CLEAN_CAMPAIGN_ID,LEID,EUID\n' +
      'ada@example.com,Ada,Byron,,"2026-02-03 04:05:06",News,c1,1,abc\n',
    expected: { firstName: 'Ada', status: 'unsubscribed' },
  },
  HubSpot: {
    file:
      '"Record ID","First Name","Last Name",Email,"Phone Number","Contact owner","Lead Status","Create Date","Associated Company"\r\n' +
      '101,Ada,Byron,ada@example.com,,,,2026-01-02 03:04,ACME\r\n',
    expected: {
      ...{ firstName: 'Ada', lastName: 'Byron', status: 'subscribed' },
      properties: { Record_ID: '101', Create_Date: '2026-01-02 03:04', Associated_Company: 'ACME' },
    },
  },
  'HubSpot, a reader who has left': {
    file:
      'Record ID,First Name,Last Name,Email,Unsubscribed from all email,"Opted out of email: Marketing Information"\n' +
      '101,Ada,Byron,ada@example.com,true,\n',
    expected: { status: 'unsubscribed' },
  },
  'HubSpot, a reader who has left one type of mail': {
    file: 'Record ID,Email,Unsubscribed from all email,"Opted out of email: One to One"\n101,ada@example.com,,Yes\n',
    expected: { status: 'unsubscribed' },
  },
  'HubSpot, a reader who gets mail': {
    file:
      'Record ID,Email,Unsubscribed from all email,"Opted out of email: Marketing Information",Email hard bounce reason\n' +
      '101,ada@example.com,false,,\n',
    expected: { status: 'subscribed', properties: { Record_ID: '101' } },
  },
  'HubSpot, unsubscribes and bounces': {
    file: 'Email,Portal Bounce,Portal Unsubscribe,Portal Spam Report,Global Bounce\nada@example.com,FALSE,FALSE,TRUE,FALSE\n',
    expected: { status: 'unsubscribed' },
  },
  'Google Contacts': {
    file:
      'First Name,Middle Name,Last Name,Phonetic First Name,Phonetic Middle Name,Phonetic Last Name,Name Prefix,Name Suffix,Nickname,File As,Organization Name,Organization Title,Organization Department,Birthday,Notes,Photo,Labels,E-mail 1 - Label,E-mail 1 - Value,Phone 1 - Label,Phone 1 - Value\n' +
      'Ada,,Byron,,,,,,,,,,,,"Met in\nLondon",,* myContacts,* ,ada@example.com,Mobile,+44 1\n',
    expected: {
      ...{ firstName: 'Ada', lastName: 'Byron', status: 'subscribed' },
      properties: {
        ...{ Notes: 'Met in London', Labels: '* myContacts', E_mail_1_Label: '*' },
        ...{ Phone_1_Label: 'Mobile', Phone_1_Value: '+44 1' },
      },
    },
  },
  'Google Contacts before 2024': {
    file:
      'Name,Given Name,Additional Name,Family Name,Yomi Name,Group Membership,E-mail 1 - Type,E-mail 1 - Value,E-mail 2 - Type,E-mail 2 - Value\n' +
      'Ada Byron,Ada,,Byron,,* myContacts,* Home,ada@example.com ::: ada@example.org,Work,ada@example.net\n',
    expected: {
      ...{ firstName: 'Ada', lastName: 'Byron', status: 'subscribed' },
      properties: {
        ...{ Name: 'Ada Byron', Group_Membership: '* myContacts', E_mail_1_Type: '* Home' },
        ...{ E_mail_2_Type: 'Work', E_mail_2_Value: 'ada@example.net' },
      },
    },
  },
  'Outlook, in English': {
    file:
      'First Name,Middle Name,Last Name,Title,Suffix,Nickname,E-mail Address,E-mail 2 Address,Home Phone,Business Phone,Company\r\n' +
      'Ada,,Byron,,,,ada@example.com,ada@example.net,,,\r\n',
    expected: {
      ...{ firstName: 'Ada', lastName: 'Byron' },
      properties: { E_mail_2_Address: 'ada@example.net' },
    },
  },
  'Outlook, in German, in Windows-1252': {
    file: Buffer.from(
      '"Anrede";"Vorname";"Nachname";"Firma";"Straße geschäftlich";"E-Mail-Adresse";"E-Mail 2: Adresse"\r\n' +
        '"Frau";"Ada";"Müller";"";"Hauptstraße 1";"ada@example.com";""\r\n',
      'latin1',
    ),
    expected: {
      ...{ firstName: 'Ada', lastName: 'Müller' },
      properties: { Anrede: 'Frau', Strasse_geschaftlich: 'Hauptstraße 1' },
    },
  },
  'Outlook, in French': {
    file: 'Titre,Prénom,Deuxième prénom,Nom,Société,Adresse de messagerie,Adresse de messagerie 2\n,Zoé,,Müller,,ada@example.com,\n',
    expected: { firstName: 'Zoé', lastName: 'Müller', properties: {} },
  },
  'Outlook, in Spanish': {
    file: 'Tratamiento,Nombre,Segundo nombre,Apellidos,Dirección de correo electrónico\n,Ada,,Byron,ada@example.com\n',
    expected: { firstName: 'Ada', lastName: 'Byron', properties: {} },
  },
  'Outlook, in Italian': {
    file: 'Titolo,Nome,Cognome,Indirizzo posta elettronica\n,Ada,Byron,ada@example.com\n',
    expected: { firstName: 'Ada', lastName: 'Byron', properties: {} },
  },
  'Outlook, in Dutch': {
    file: 'Titel,Voornaam,Achternaam,E-mailadres\n,Ada,Byron,ada@example.com\n',
    expected: { firstName: 'Ada', lastName: 'Byron' },
  },
  'Outlook, in Portuguese': {
    file: 'Nome,Sobrenome,Endereço de e-mail\nAda,Byron,ada@example.com\n',
    expected: { firstName: 'Ada', lastName: 'Byron' },
  },
  'Outlook, in Japanese': {
    file: '姓,名,会社名,電子メール アドレス\nByron,Ada,ACME,ada@example.com\n',
    expected: { firstName: 'Ada', lastName: 'Byron', properties: { column_3: 'ACME' } },
  },
  'Outlook, in Russian, in UTF-16': {
    file: Buffer.from('\ufeffИмя\tФамилия\tАдрес эл. почты\r\nАда\tБайрон\tada@example.com\r\n', 'utf16le'),
    expected: { firstName: 'Ада', lastName: 'Байрон' },
  },
  Klaviyo: {
    file:
      'Email,Klaviyo ID,First Name,Last Name,Organization,Title,Phone Number,Address,City,State / Region,Country,Zip Code,Date Added,Email Marketing Consent\r\n' +
      'ada@example.com,01A,Ada,Byron,,,,1 Main St,,NY,,,2026-01-02,SUBSCRIBED\r\n',
    expected: {
      ...{ firstName: 'Ada', lastName: 'Byron', status: 'subscribed' },
      properties: { Klaviyo_ID: '01A', Address: '1 Main St', State_Region: 'NY', Date_Added: '2026-01-02' },
    },
  },
  'Klaviyo, a profile without consent': {
    file:
      'Email,First Name,Email Marketing Consent,Email Marketing Consent Timestamp,SMS Marketing Consent\n' +
      'ada@example.com,Ada,NEVER_SUBSCRIBED,,SUBSCRIBED\n',
    expected: { status: 'unsubscribed' },
  },
  'Klaviyo, a reader of mail who gets no text messages': {
    file:
      'Email,First Name,Email Marketing Consent,Email Marketing Consent Timestamp,SMS Marketing Consent\n' +
      'ada@example.com,Ada,SUBSCRIBED,2026-01-02,UNSUBSCRIBED\n',
    expected: { status: 'subscribed' },
  },
  Brevo: {
    file:
      'EMAIL;LASTNAME;FIRSTNAME;SMS;EMAIL_BLACKLISTED;SMS_BLACKLISTED;ADDED_TIME;MODIFIED_TIME\n' +
      'ada@example.com;Byron;Ada;;0;1;02-01-2026 03:04:05;02-01-2026 03:04:05\n',
    expected: { firstName: 'Ada', lastName: 'Byron', status: 'subscribed' },
  },
  'Brevo, with its own attributes, which are empty': {
    file: 'CONTACT ID,EMAIL,FIRSTNAME,LASTNAME,DOUBLE_OPT-IN,OPT_IN,EMAIL_BLACKLISTED\n7,ada@example.com,Ada,Byron,,,0\n',
    expected: { firstName: 'Ada', status: 'subscribed' },
  },
  'Brevo, a contact with a single opt-in': {
    file: 'EMAIL,FIRSTNAME,DOUBLE_OPT-IN,BLOCKLISTED\nada@example.com,Ada,2,no\n',
    expected: { status: 'subscribed', properties: { DOUBLE_OPT_IN: '2' } },
  },
  'Brevo, a blocklisted contact': {
    file: 'CONTACT ID,EMAIL,FIRSTNAME,LASTNAME,Email marketing\n7,ada@example.com,Ada,Byron,Blocklisted\n',
    expected: { firstName: 'Ada', lastName: 'Byron', status: 'unsubscribed' },
  },
  ActiveCampaign: {
    file: '"Email","First Name","Last Name","Phone","Account","Status","Date Created"\n"ada@example.com","Ada","Byron","","","Unsubscribed","2026-01-02"\n',
    expected: { firstName: 'Ada', lastName: 'Byron', status: 'unsubscribed' },
  },
  beehiiv: {
    file: 'email,status,subscription_tier,subscription_id,created_at,utm_source,utm_medium,referring_site,Acquisition Source\nada@example.com,active,free,s1,2026-01-02T03:04:05Z,,,,Import\n',
    expected: {
      status: 'subscribed',
      properties: {
        ...{ subscription_tier: 'free', subscription_id: 's1', created_at: '2026-01-02T03:04:05Z' },
        Acquisition_Source: 'Import',
      },
    },
  },
  'beehiiv, a subscriber who has left': {
    file: 'email,status,subscription_tier,created_at\nada@example.com,inactive,free,2026-01-02\n',
    expected: { status: 'unsubscribed' },
  },
  Substack: {
    file: 'email,active_subscription,expiry,plan,email_disabled,created_at,first_payment_at\nada@example.com,false,,other,false,2026-01-02T03:04:05Z,\n',
    expected: {
      status: 'subscribed',
      properties: { active_subscription: false, plan: 'other', created_at: '2026-01-02T03:04:05Z' },
    },
  },
  'Substack, a reader who gets no mail': {
    file: 'email,active_subscription,expiry,plan,email_disabled,created_at\nada@example.com,true,,other,true,2026-01-02\n',
    expected: { status: 'unsubscribed' },
  },
  MailerLite: {
    file: 'Subscriber,Sent,Opens,Clicks,Subscribed,Location,Name,Last name\nada@example.com,1,1,0,2026-01-02 03:04:05,,Ada,Byron\n',
    expected: { firstName: 'Ada', lastName: 'Byron', status: 'subscribed' },
  },
  'MailerLite, a bounced subscriber': {
    file: 'Email,Name,Last name,Status,Subscribed,Unsubscribed\nada@example.com,Ada,Byron,Bounced,2026-01-02 03:04:05,\n',
    expected: { status: 'unsubscribed' },
  },
  'MailerLite, a subscriber who has left': {
    file: 'Email,Name,Subscribed,Unsubscribed\nada@example.com,Ada,2026-01-02 03:04:05,2026-02-03 04:05:06\n',
    expected: { status: 'unsubscribed' },
  },
  listmonk: {
    file:
      'uuid,email,name,attributes,status,created_at,updated_at\r\n' +
      '0d1f,ada@example.com,Ada Byron,"{""city"": ""Rome""}",enabled,2026-01-02T03:04:05Z,2026-01-02T03:04:05Z\r\n',
    expected: { firstName: 'Ada', lastName: 'Byron', status: 'subscribed' },
  },
  'listmonk, a blocklisted subscriber': {
    file: 'uuid,email,name,attributes,status,created_at,updated_at\n0d1f,ada@example.com,Ada van Byron,{},blocklisted,,\n',
    expected: { firstName: 'Ada', lastName: 'van Byron', status: 'unsubscribed' },
  },
  Ghost: {
    file:
      'id,email,name,note,subscribed_to_emails,complimentary_plan,stripe_customer_id,created_at,deleted_at,labels,tiers\r\n' +
      '6,ada@example.com,Ada,,true,,,2026-01-02T03:04:05.000Z,,,\r\n',
    expected: {
      ...{ firstName: 'Ada', lastName: null, status: 'subscribed' },
      properties: { id: '6', created_at: '2026-01-02T03:04:05.000Z' },
    },
  },
  'Ghost, a member who gets no mail': {
    file: 'id,email,name,note,subscribed_to_emails,complimentary_plan,created_at,deleted_at\n6,ada@example.com,Ada,,false,,,\n',
    expected: { status: 'unsubscribed' },
  },
  'Ghost, a member who was deleted': {
    file: 'id,email,name,subscribed_to_emails,deleted_at\n6,ada@example.com,Ada,true,2026-02-03T04:05:06Z\n',
    expected: { status: 'unsubscribed' },
  },
  Kit: {
    file: 'id,first_name,email_address,state,created_at,tags\n1,Ada,ada@example.com,active,2026-01-02 03:04:05,VIP\n',
    expected: { firstName: 'Ada', status: 'subscribed' },
  },
  'Kit, a subscriber who has left': {
    file: 'id,first_name,email,status,created_at\n1,Ada,ada@example.com,Cancelled,2026-01-02\n',
    expected: { firstName: 'Ada', status: 'unsubscribed' },
  },
  'ConvertKit, a subscriber who has complained': {
    file: 'id,first_name,email_address,state,created_at\n1,Ada,ada@example.com,complained,2026-01-02\n',
    expected: { firstName: 'Ada', status: 'unsubscribed' },
  },
  SendGrid: {
    file:
      'EMAIL,FIRST_NAME,LAST_NAME,ADDRESS_LINE_1,ADDRESS_LINE_2,CITY,STATE_PROVINCE_REGION,POSTAL_CODE,COUNTRY,ALTERNATE_EMAILS,PHONE_NUMBER,WHATSAPP,LINE,FACEBOOK,UNIQUE_NAME,CREATED_AT,UPDATED_AT,CONTACT_ID\n' +
      'ada@example.com,Ada,Byron,,,Rome,,,,,,,,,,2026-01-02T03:04:05Z,,c1\n',
    expected: {
      ...{ firstName: 'Ada', lastName: 'Byron' },
      properties: { CITY: 'Rome', CREATED_AT: '2026-01-02T03:04:05Z', CONTACT_ID: 'c1' },
    },
  },
  Mautic: {
    file: '"id","firstname","lastname","email","company","points","date_added","dnc"\n"1","Ada","Byron","ada@example.com","ACME","3","2026-01-02","0"\n',
    expected: { firstName: 'Ada', lastName: 'Byron', status: 'subscribed' },
  },
  'Mautic, a contact who must not be contacted': {
    file: 'id,firstname,lastname,email,doNotContact\n1,Ada,Byron,ada@example.com,2\n',
    expected: { status: 'unsubscribed' },
  },
  Salesforce: {
    file: 'FirstName,LastName,Email,MailingCity,MailingState,HasOptedOutOfEmail,EmailBouncedReason,EmailBouncedDate\nAda,Byron,ada@example.com,Rome,CA,0,,\n',
    expected: {
      ...{ firstName: 'Ada', lastName: 'Byron', status: 'subscribed' },
      properties: { MailingCity: 'Rome', MailingState: 'CA' },
    },
  },
  'Salesforce, a contact whose mail has bounced': {
    file: 'FirstName,LastName,Email,HasOptedOutOfEmail,EmailBouncedReason,EmailBouncedDate\nAda,Byron,ada@example.com,0,550 5.1.1,2026-01-02\n',
    expected: { status: 'unsubscribed' },
  },
  'a customer list in German': {
    file: 'Vorname;Nachname;E-Mail;Newsletter;Einwilligung;Abmeldedatum\nAda;Byron;ada@example.com;Ja;Ja;01.02.2026\n',
    expected: { firstName: 'Ada', lastName: 'Byron', status: 'unsubscribed' },
  },
  'an address list whose addresses were tested': {
    file: 'email,email verification status,email status\nada@example.com,invalid,active\n',
    expected: { status: 'subscribed', properties: { email_verification_status: 'invalid' } },
  },
  Shopify: {
    file: 'Customer ID,First Name,Last Name,Email,Accepts Email Marketing,Accepts SMS Marketing,Total Orders\n1,Ada,Byron,ada@example.com,no,yes,3\n',
    expected: { firstName: 'Ada', status: 'unsubscribed' },
  },
  'Constant Contact': {
    file: 'Email address,First name,Last name,Email status,Email permission status,Confirmed Opt-Out Date\nada@example.com,Ada,Byron,Active,Express,\n',
    expected: { firstName: 'Ada', lastName: 'Byron', status: 'subscribed' },
  },
  'Excel, with its own line for the separator': {
    file: 'sep=;\r\nemail;first name\r\nada@example.com;Ada\r\n',
    expected: { firstName: 'Ada', properties: {} },
  },
  'Excel, with bars': {
    file: '"sep=|"\nemail|first name|note\nada@example.com|Ada|a,b;c\n',
    expected: { firstName: 'Ada', properties: { note: 'a,b;c' } },
  },
  'Excel, with empty columns behind the others': {
    file: 'email;first name;;\nada@example.com;Ada;;x\n',
    expected: { firstName: 'Ada', properties: { column_4: 'x' } },
  },
  'a list of addresses without headings': { file: 'ada@example.com\nbob@example.com\n', expected: {} },
  'rows without headings': {
    file: 'Ada;ada@example.com;Rome\r\nBob;bob@example.com;\r\n',
    expected: { firstName: null, properties: { column_1: 'Ada', column_3: 'Rome' } },
  },
};
