package postrider

import (
	"context"
	"io"
	"strconv"
)

// services are the resources of the API.
type services struct {
	APIKeys      *APIKeysService
	Approvals    *ApprovalsService
	Audiences    *AudiencesService
	Branding     *BrandingService
	Broadcasts   *BroadcastsService
	Contacts     *ContactsService
	Domains      *DomainsService
	Emails       *EmailsService
	Exports      *ExportsService
	Imports      *ImportsService
	Inbound      *InboundService
	Mailboxes    *MailboxesService
	Metrics      *MetricsService
	Plan         *PlanService
	RequestLog   *RequestLogService
	Segments     *SegmentsService
	Simulator    *SimulatorService
	Suppressions *SuppressionsService
	Templates    *TemplatesService
	Topics       *TopicsService
	Webhooks     *WebhooksService
}

func newServices(c *Client) services {
	return services{
		APIKeys:      &APIKeysService{client: c},
		Approvals:    &ApprovalsService{client: c},
		Audiences:    &AudiencesService{client: c},
		Branding:     &BrandingService{client: c},
		Broadcasts:   &BroadcastsService{client: c},
		Contacts:     &ContactsService{client: c},
		Domains:      &DomainsService{client: c},
		Emails:       &EmailsService{client: c},
		Exports:      &ExportsService{client: c},
		Imports:      &ImportsService{client: c},
		Inbound:      &InboundService{Messages: &InboundMessagesService{client: c}, Routes: &InboundRoutesService{client: c}},
		Mailboxes:    &MailboxesService{client: c, AppPasswords: &MailboxesAppPasswordsService{client: c}, Drafts: &MailboxesDraftsService{client: c}, Folders: &MailboxesFoldersService{client: c}, Imports: &MailboxesImportsService{client: c}, Messages: &MailboxesMessagesService{client: c}, Threads: &MailboxesThreadsService{client: c}},
		Metrics:      &MetricsService{client: c},
		Plan:         &PlanService{client: c},
		RequestLog:   &RequestLogService{client: c},
		Segments:     &SegmentsService{client: c},
		Simulator:    &SimulatorService{client: c},
		Suppressions: &SuppressionsService{client: c},
		Templates:    &TemplatesService{client: c, Versions: &TemplatesVersionsService{client: c}},
		Topics:       &TopicsService{client: c},
		Webhooks:     &WebhooksService{client: c, Deliveries: &WebhooksDeliveriesService{client: c}},
	}
}

// APIKeysService has the operations of API keys.
type APIKeysService struct {
	client *Client
}

// Create an API key.
func (s *APIKeysService) Create(ctx context.Context, body *CreateAPIKeyBody, options ...CallOption) (*CreatedAPIKey, error) {
	return call[CreatedAPIKey](ctx, s.client, newRequest("POST", "/v1/api-keys").with(body), options)
}

// Revoke an API key.
func (s *APIKeysService) Delete(ctx context.Context, id string, options ...CallOption) error {
	return callNone(ctx, s.client, newRequest("DELETE", "/v1/api-keys/{id}", id), options)
}

// Retrieve an API key.
func (s *APIKeysService) Get(ctx context.Context, id string, options ...CallOption) (*APIKey, error) {
	return call[APIKey](ctx, s.client, newRequest("GET", "/v1/api-keys/{id}", id), options)
}

// List API keys.
func (s *APIKeysService) List(ctx context.Context, query *ListAPIKeysQuery, options ...CallOption) *Pager[APIKey] {
	return list[APIKey](ctx, s.client, newRequest("GET", "/v1/api-keys").ask(query), options)
}

// Change an API key.
func (s *APIKeysService) Update(ctx context.Context, id string, body *UpdateAPIKeyBody, options ...CallOption) (*APIKey, error) {
	return call[APIKey](ctx, s.client, newRequest("PATCH", "/v1/api-keys/{id}", id).with(body), options)
}

// ApprovalsService has the operations of approvals.
type ApprovalsService struct {
	client *Client
}

// Retrieve an approval.
func (s *ApprovalsService) Get(ctx context.Context, id string, options ...CallOption) (*Approval, error) {
	return call[Approval](ctx, s.client, newRequest("GET", "/v1/approvals/{id}", id), options)
}

// List approvals.
func (s *ApprovalsService) List(ctx context.Context, query *ListApprovalsQuery, options ...CallOption) *Pager[Approval] {
	return list[Approval](ctx, s.client, newRequest("GET", "/v1/approvals").ask(query), options)
}

// AudiencesService has the operations of audiences.
type AudiencesService struct {
	client *Client
}

// Create an audience.
func (s *AudiencesService) Create(ctx context.Context, body *CreateAudienceBody, options ...CallOption) (*Audience, error) {
	return call[Audience](ctx, s.client, newRequest("POST", "/v1/audiences").with(body), options)
}

// Delete an audience.
func (s *AudiencesService) Delete(ctx context.Context, id string, options ...CallOption) error {
	return callNone(ctx, s.client, newRequest("DELETE", "/v1/audiences/{id}", id), options)
}

// Retrieve an audience.
func (s *AudiencesService) Get(ctx context.Context, id string, options ...CallOption) (*Audience, error) {
	return call[Audience](ctx, s.client, newRequest("GET", "/v1/audiences/{id}", id), options)
}

// List audiences.
func (s *AudiencesService) List(ctx context.Context, query *ListAudiencesQuery, options ...CallOption) *Pager[Audience] {
	return list[Audience](ctx, s.client, newRequest("GET", "/v1/audiences").ask(query), options)
}

// Update an audience.
func (s *AudiencesService) Update(ctx context.Context, id string, body *UpdateAudienceBody, options ...CallOption) (*Audience, error) {
	return call[Audience](ctx, s.client, newRequest("PATCH", "/v1/audiences/{id}", id).with(body), options)
}

// BrandingService has the operations of branding.
type BrandingService struct {
	client *Client
}

// Delete the branding.
func (s *BrandingService) Delete(ctx context.Context, options ...CallOption) error {
	return callNone(ctx, s.client, newRequest("DELETE", "/v1/branding"), options)
}

// Retrieve the branding.
func (s *BrandingService) Get(ctx context.Context, options ...CallOption) (*Branding, error) {
	return call[Branding](ctx, s.client, newRequest("GET", "/v1/branding"), options)
}

// Preview the branding.
func (s *BrandingService) Preview(ctx context.Context, body *PreviewBrandingBody, options ...CallOption) (*BrandingPreview, error) {
	return call[BrandingPreview](ctx, s.client, newRequest("POST", "/v1/branding/preview").with(body), options)
}

// Set the branding.
func (s *BrandingService) Update(ctx context.Context, body *ChangeBrandingBody, options ...CallOption) (*Branding, error) {
	return call[Branding](ctx, s.client, newRequest("PUT", "/v1/branding").with(body), options)
}

// BroadcastsService has the operations of broadcasts.
type BroadcastsService struct {
	client *Client
}

// Approve a broadcast.
func (s *BroadcastsService) Approve(ctx context.Context, id string, body *ApproveBroadcastBody, options ...CallOption) (*Approval, error) {
	return call[Approval](ctx, s.client, newRequest("POST", "/v1/broadcasts/{id}/approve", id).with(body), options)
}

// Cancel a broadcast.
func (s *BroadcastsService) Cancel(ctx context.Context, id string, options ...CallOption) (*Broadcast, error) {
	return call[Broadcast](ctx, s.client, newRequest("POST", "/v1/broadcasts/{id}/cancel", id), options)
}

// Create a broadcast.
func (s *BroadcastsService) Create(ctx context.Context, body *CreateBroadcastBody, options ...CallOption) (*Broadcast, error) {
	return call[Broadcast](ctx, s.client, newRequest("POST", "/v1/broadcasts").with(body), options)
}

// Decline a broadcast.
func (s *BroadcastsService) Decline(ctx context.Context, id string, body *DeclineBroadcastBody, options ...CallOption) (*Approval, error) {
	return call[Approval](ctx, s.client, newRequest("POST", "/v1/broadcasts/{id}/decline", id).with(body), options)
}

// Delete a broadcast.
func (s *BroadcastsService) Delete(ctx context.Context, id string, options ...CallOption) error {
	return callNone(ctx, s.client, newRequest("DELETE", "/v1/broadcasts/{id}", id), options)
}

// Export the tracked links of a broadcast to a CSV file.
func (s *BroadcastsService) ExportClickedLinks(ctx context.Context, id string, options ...CallOption) (*Export, error) {
	return call[Export](ctx, s.client, newRequest("POST", "/v1/broadcasts/{id}/clicked-links/exports", id), options)
}

// Export the recipients of a broadcast to a CSV file.
func (s *BroadcastsService) ExportRecipients(ctx context.Context, id string, body *ExportBroadcastRecipientsBody, options ...CallOption) (*Export, error) {
	return call[Export](ctx, s.client, newRequest("POST", "/v1/broadcasts/{id}/recipients/exports", id).with(body), options)
}

// Retrieve a broadcast.
func (s *BroadcastsService) Get(ctx context.Context, id string, options ...CallOption) (*Broadcast, error) {
	return call[Broadcast](ctx, s.client, newRequest("GET", "/v1/broadcasts/{id}", id), options)
}

// List broadcasts.
func (s *BroadcastsService) List(ctx context.Context, query *ListBroadcastsQuery, options ...CallOption) *Pager[BroadcastSummary] {
	return list[BroadcastSummary](ctx, s.client, newRequest("GET", "/v1/broadcasts").ask(query), options)
}

// List the tracked links of a broadcast.
func (s *BroadcastsService) ListClickedLinks(ctx context.Context, id string, options ...CallOption) *Pager[ClickedLink] {
	return list[ClickedLink](ctx, s.client, newRequest("GET", "/v1/broadcasts/{id}/clicked-links", id), options)
}

// Count the recipients of a broadcast by provider.
func (s *BroadcastsService) ListProviders(ctx context.Context, id string, options ...CallOption) *Pager[BroadcastProvider] {
	return list[BroadcastProvider](ctx, s.client, newRequest("GET", "/v1/broadcasts/{id}/providers", id), options)
}

// List the recipients of a broadcast.
func (s *BroadcastsService) ListRecipients(ctx context.Context, id string, query *ListBroadcastRecipientsQuery, options ...CallOption) *Pager[BroadcastRecipient] {
	return list[BroadcastRecipient](ctx, s.client, newRequest("GET", "/v1/broadcasts/{id}/recipients", id).ask(query), options)
}

// Pause a broadcast.
func (s *BroadcastsService) Pause(ctx context.Context, id string, options ...CallOption) (*Broadcast, error) {
	return call[Broadcast](ctx, s.client, newRequest("POST", "/v1/broadcasts/{id}/pause", id), options)
}

// Show what a broadcast will be.
func (s *BroadcastsService) Preflight(ctx context.Context, id string, options ...CallOption) (*BroadcastPreflight, error) {
	return call[BroadcastPreflight](ctx, s.client, newRequest("GET", "/v1/broadcasts/{id}/preflight", id), options)
}

// Show a broadcast as a contact would read it.
func (s *BroadcastsService) Preview(ctx context.Context, id string, query *PreviewBroadcastQuery, options ...CallOption) (*BroadcastPreview, error) {
	return call[BroadcastPreview](ctx, s.client, newRequest("GET", "/v1/broadcasts/{id}/preview", id).ask(query), options)
}

// Resume a paused broadcast.
func (s *BroadcastsService) Resume(ctx context.Context, id string, options ...CallOption) (*Broadcast, error) {
	return call[Broadcast](ctx, s.client, newRequest("POST", "/v1/broadcasts/{id}/resume", id), options)
}

// Send a broadcast.
func (s *BroadcastsService) Send(ctx context.Context, id string, options ...CallOption) (*Broadcast, error) {
	return call[Broadcast](ctx, s.client, newRequest("POST", "/v1/broadcasts/{id}/send", id), options)
}

// Send a test of a broadcast.
func (s *BroadcastsService) Test(ctx context.Context, id string, body *TestBroadcastBody, options ...CallOption) (*BroadcastTest, error) {
	return call[BroadcastTest](ctx, s.client, newRequest("POST", "/v1/broadcasts/{id}/test", id).with(body), options)
}

// Update a broadcast.
func (s *BroadcastsService) Update(ctx context.Context, id string, body *UpdateBroadcastBody, options ...CallOption) (*Broadcast, error) {
	return call[Broadcast](ctx, s.client, newRequest("PATCH", "/v1/broadcasts/{id}", id).with(body), options)
}

// ContactsService has the operations of contacts.
type ContactsService struct {
	client *Client
}

// Create a contact.
func (s *ContactsService) Create(ctx context.Context, audienceID string, body *CreateContactBody, query *CreateContactQuery, options ...CallOption) (*Contact, error) {
	return call[Contact](ctx, s.client, newRequest("POST", "/v1/audiences/{audienceId}/contacts", audienceID).with(body).ask(query), options)
}

// Delete a contact.
func (s *ContactsService) Delete(ctx context.Context, audienceID, id string, options ...CallOption) error {
	return callNone(ctx, s.client, newRequest("DELETE", "/v1/audiences/{audienceId}/contacts/{id}", audienceID, id), options)
}

// Export contacts to a CSV file.
func (s *ContactsService) ExportCSV(ctx context.Context, audienceID string, body *ExportContactsBody, options ...CallOption) (*Export, error) {
	return call[Export](ctx, s.client, newRequest("POST", "/v1/audiences/{audienceId}/contacts/exports", audienceID).with(body), options)
}

// Retrieve a contact.
func (s *ContactsService) Get(ctx context.Context, audienceID, id string, options ...CallOption) (*Contact, error) {
	return call[Contact](ctx, s.client, newRequest("GET", "/v1/audiences/{audienceId}/contacts/{id}", audienceID, id), options)
}

// Import contacts from a CSV file.
func (s *ContactsService) ImportCSV(ctx context.Context, audienceID string, file io.Reader, query *ImportContactsQuery, options ...CallOption) (*ImportResult[ContactImportPreview], error) {
	return call[ImportResult[ContactImportPreview]](ctx, s.client, newRequest("POST", "/v1/audiences/{audienceId}/contacts/imports", audienceID).upload(file).ask(query), options)
}

// List contacts.
func (s *ContactsService) List(ctx context.Context, audienceID string, query *ListContactsQuery, options ...CallOption) *Pager[Contact] {
	return list[Contact](ctx, s.client, newRequest("GET", "/v1/audiences/{audienceId}/contacts", audienceID).ask(query), options)
}

// Preview an import that waits.
func (s *ContactsService) PreviewImport(ctx context.Context, audienceID, id string, body *PreviewWaitingImportBody, options ...CallOption) (*ContactImportPreview, error) {
	return call[ContactImportPreview](ctx, s.client, newRequest("POST", "/v1/audiences/{audienceId}/contacts/imports/{id}/preview", audienceID, id).with(body), options)
}

// Start an import that waits.
func (s *ContactsService) StartImport(ctx context.Context, audienceID, id string, body *StartImportBody, options ...CallOption) (*Import, error) {
	return call[Import](ctx, s.client, newRequest("POST", "/v1/audiences/{audienceId}/contacts/imports/{id}/start", audienceID, id).with(body), options)
}

// Update a contact.
func (s *ContactsService) Update(ctx context.Context, audienceID, id string, body *UpdateContactBody, options ...CallOption) (*Contact, error) {
	return call[Contact](ctx, s.client, newRequest("PATCH", "/v1/audiences/{audienceId}/contacts/{id}", audienceID, id).with(body), options)
}

// DomainsService has the operations of domains.
type DomainsService struct {
	client *Client
}

// Create a domain.
func (s *DomainsService) Create(ctx context.Context, body *CreateDomainBody, options ...CallOption) (*Domain, error) {
	return call[Domain](ctx, s.client, newRequest("POST", "/v1/domains").with(body), options)
}

// Delete a domain.
func (s *DomainsService) Delete(ctx context.Context, id string, options ...CallOption) error {
	return callNone(ctx, s.client, newRequest("DELETE", "/v1/domains/{id}", id), options)
}

// Retrieve a domain.
func (s *DomainsService) Get(ctx context.Context, id string, options ...CallOption) (*Domain, error) {
	return call[Domain](ctx, s.client, newRequest("GET", "/v1/domains/{id}", id), options)
}

// List domains.
func (s *DomainsService) List(ctx context.Context, query *ListDomainsQuery, options ...CallOption) *Pager[Domain] {
	return list[Domain](ctx, s.client, newRequest("GET", "/v1/domains").ask(query), options)
}

// List reports about a domain.
func (s *DomainsService) ListReports(ctx context.Context, id string, query *ListDomainReportsQuery, options ...CallOption) *Pager[DomainReport] {
	return list[DomainReport](ctx, s.client, newRequest("GET", "/v1/domains/{id}/reports", id).ask(query), options)
}

// Sum reports about a domain by day.
func (s *DomainsService) SumReports(ctx context.Context, id string, query *SumDomainReportsQuery, options ...CallOption) (*DomainReportSums, error) {
	return call[DomainReportSums](ctx, s.client, newRequest("GET", "/v1/domains/{id}/reports/days", id).ask(query), options)
}

// Rotate the DKIM keys of a domain.
func (s *DomainsService) RotateDKIM(ctx context.Context, id string, options ...CallOption) (*Domain, error) {
	return call[Domain](ctx, s.client, newRequest("POST", "/v1/domains/{id}/rotate-dkim", id), options)
}

// Update a domain.
func (s *DomainsService) Update(ctx context.Context, id string, body *UpdateDomainBody, options ...CallOption) (*Domain, error) {
	return call[Domain](ctx, s.client, newRequest("PATCH", "/v1/domains/{id}", id).with(body), options)
}

// Verify a domain.
func (s *DomainsService) Verify(ctx context.Context, id string, options ...CallOption) (*Domain, error) {
	return call[Domain](ctx, s.client, newRequest("POST", "/v1/domains/{id}/verify", id), options)
}

// EmailsService has the operations of emails.
type EmailsService struct {
	client *Client
}

// Approve an email.
func (s *EmailsService) Approve(ctx context.Context, id string, body *ApproveEmailBody, options ...CallOption) (*Approval, error) {
	return call[Approval](ctx, s.client, newRequest("POST", "/v1/emails/{id}/approve", id).with(body), options)
}

// Cancel an email.
func (s *EmailsService) Cancel(ctx context.Context, id string, options ...CallOption) (*Email, error) {
	return call[Email](ctx, s.client, newRequest("POST", "/v1/emails/{id}/cancel", id), options)
}

// Check an email.
func (s *EmailsService) Check(ctx context.Context, id string, query *CheckEmailQuery, options ...CallOption) (*EmailCheck, error) {
	return call[EmailCheck](ctx, s.client, newRequest("GET", "/v1/emails/{id}/check", id).ask(query), options)
}

// Decline an email.
func (s *EmailsService) Decline(ctx context.Context, id string, body *DeclineEmailBody, options ...CallOption) (*Approval, error) {
	return call[Approval](ctx, s.client, newRequest("POST", "/v1/emails/{id}/decline", id).with(body), options)
}

// Retrieve an email.
func (s *EmailsService) Get(ctx context.Context, id string, options ...CallOption) (*Email, error) {
	return call[Email](ctx, s.client, newRequest("GET", "/v1/emails/{id}", id), options)
}

// Download an attachment of an email.
func (s *EmailsService) GetAttachment(ctx context.Context, id string, number int, options ...CallOption) (*Stream, error) {
	return callStream(ctx, s.client, newRequest("GET", "/v1/emails/{id}/attachments/{number}", id, strconv.Itoa(number)), options)
}

// List the delivery attempts of an email.
func (s *EmailsService) GetAttempts(ctx context.Context, id string, options ...CallOption) (*EmailAttempts, error) {
	return call[EmailAttempts](ctx, s.client, newRequest("GET", "/v1/emails/{id}/attempts", id), options)
}

// Download an email.
func (s *EmailsService) GetRaw(ctx context.Context, id string, query *GetRawEmailQuery, options ...CallOption) (*Stream, error) {
	return callStream(ctx, s.client, newRequest("GET", "/v1/emails/{id}/raw", id).ask(query), options)
}

// List emails.
func (s *EmailsService) List(ctx context.Context, query *ListEmailsQuery, options ...CallOption) *Pager[EmailSummary] {
	return list[EmailSummary](ctx, s.client, newRequest("GET", "/v1/emails").ask(query), options)
}

// Reschedule an email.
func (s *EmailsService) Reschedule(ctx context.Context, id string, body *RescheduleEmailBody, options ...CallOption) (*Email, error) {
	return call[Email](ctx, s.client, newRequest("PATCH", "/v1/emails/{id}", id).with(body), options)
}

// Search subjects.
func (s *EmailsService) SearchSubjects(ctx context.Context, query *SearchEmailSubjectsQuery, options ...CallOption) (*SearchEmailSubjectsAnswer, error) {
	return call[SearchEmailSubjectsAnswer](ctx, s.client, newRequest("GET", "/v1/emails/subjects").ask(query), options)
}

// Send an email.
func (s *EmailsService) Send(ctx context.Context, body *SendEmailBody, options ...CallOption) (*SentEmail, error) {
	return call[SentEmail](ctx, s.client, newRequest("POST", "/v1/emails").with(body).keyed(), options)
}

// Send up to 100 emails.
func (s *EmailsService) SendBatch(ctx context.Context, body *SendBatchBody, options ...CallOption) (*SentBatch, error) {
	return call[SentBatch](ctx, s.client, newRequest("POST", "/v1/emails/batch").with(body).keyed(), options)
}

// ExportsService has the operations of exports.
type ExportsService struct {
	client *Client
}

// Delete an export.
func (s *ExportsService) Delete(ctx context.Context, id string, options ...CallOption) error {
	return callNone(ctx, s.client, newRequest("DELETE", "/v1/exports/{id}", id), options)
}

// Retrieve an export.
func (s *ExportsService) Get(ctx context.Context, id string, options ...CallOption) (*Export, error) {
	return call[Export](ctx, s.client, newRequest("GET", "/v1/exports/{id}", id), options)
}

// Download the file of an export.
func (s *ExportsService) GetFile(ctx context.Context, id string, options ...CallOption) (*Stream, error) {
	return callStream(ctx, s.client, newRequest("GET", "/v1/exports/{id}/file", id), options)
}

// List exports.
func (s *ExportsService) List(ctx context.Context, query *ListExportsQuery, options ...CallOption) *Pager[Export] {
	return list[Export](ctx, s.client, newRequest("GET", "/v1/exports").ask(query), options)
}

// ImportsService has the operations of imports.
type ImportsService struct {
	client *Client
}

// Delete an import.
func (s *ImportsService) Delete(ctx context.Context, id string, options ...CallOption) error {
	return callNone(ctx, s.client, newRequest("DELETE", "/v1/imports/{id}", id), options)
}

// Retrieve an import.
func (s *ImportsService) Get(ctx context.Context, id string, options ...CallOption) (*Import, error) {
	return call[Import](ctx, s.client, newRequest("GET", "/v1/imports/{id}", id), options)
}

// Download the rows that were not imported.
func (s *ImportsService) GetErrors(ctx context.Context, id string, options ...CallOption) (*Stream, error) {
	return callStream(ctx, s.client, newRequest("GET", "/v1/imports/{id}/errors", id), options)
}

// List imports.
func (s *ImportsService) List(ctx context.Context, query *ListImportsQuery, options ...CallOption) *Pager[Import] {
	return list[Import](ctx, s.client, newRequest("GET", "/v1/imports").ask(query), options)
}

// InboundService has the operations of inbound.
type InboundService struct {
	Messages *InboundMessagesService
	Routes   *InboundRoutesService
}

// InboundMessagesService has the operations of inbound messages.
type InboundMessagesService struct {
	client *Client
}

// Retrieve an inbound message.
func (s *InboundMessagesService) Get(ctx context.Context, id string, options ...CallOption) (*InboundMessage, error) {
	return call[InboundMessage](ctx, s.client, newRequest("GET", "/v1/inbound/messages/{id}", id), options)
}

// Download an attachment of an inbound message.
func (s *InboundMessagesService) GetAttachment(ctx context.Context, id string, number int, options ...CallOption) (*Stream, error) {
	return callStream(ctx, s.client, newRequest("GET", "/v1/inbound/messages/{id}/attachments/{number}", id, strconv.Itoa(number)), options)
}

// Download an inbound message.
func (s *InboundMessagesService) GetRaw(ctx context.Context, id string, options ...CallOption) (*Stream, error) {
	return callStream(ctx, s.client, newRequest("GET", "/v1/inbound/messages/{id}/raw", id), options)
}

// List inbound messages.
func (s *InboundMessagesService) List(ctx context.Context, query *ListInboundMessagesQuery, options ...CallOption) *Pager[InboundMessageSummary] {
	return list[InboundMessageSummary](ctx, s.client, newRequest("GET", "/v1/inbound/messages").ask(query), options)
}

// Post an inbound message again.
func (s *InboundMessagesService) Replay(ctx context.Context, id string, options ...CallOption) (*InboundMessage, error) {
	return call[InboundMessage](ctx, s.client, newRequest("POST", "/v1/inbound/messages/{id}/replay", id), options)
}

// InboundRoutesService has the operations of inbound routes.
type InboundRoutesService struct {
	client *Client
}

// Create an inbound route.
func (s *InboundRoutesService) Create(ctx context.Context, body *CreateInboundRouteBody, options ...CallOption) (*InboundRouteWithSecret, error) {
	return call[InboundRouteWithSecret](ctx, s.client, newRequest("POST", "/v1/inbound/routes").with(body), options)
}

// Delete an inbound route.
func (s *InboundRoutesService) Delete(ctx context.Context, id string, options ...CallOption) error {
	return callNone(ctx, s.client, newRequest("DELETE", "/v1/inbound/routes/{id}", id), options)
}

// Retrieve an inbound route.
func (s *InboundRoutesService) Get(ctx context.Context, id string, options ...CallOption) (*InboundRoute, error) {
	return call[InboundRoute](ctx, s.client, newRequest("GET", "/v1/inbound/routes/{id}", id), options)
}

// List inbound routes.
func (s *InboundRoutesService) List(ctx context.Context, query *ListInboundRoutesQuery, options ...CallOption) *Pager[InboundRoute] {
	return list[InboundRoute](ctx, s.client, newRequest("GET", "/v1/inbound/routes").ask(query), options)
}

// Post a sample message to an inbound route.
func (s *InboundRoutesService) Test(ctx context.Context, id string, options ...CallOption) (*WebhookTestResult, error) {
	return call[WebhookTestResult](ctx, s.client, newRequest("POST", "/v1/inbound/routes/{id}/test", id), options)
}

// Update an inbound route.
func (s *InboundRoutesService) Update(ctx context.Context, id string, body *UpdateInboundRouteBody, options ...CallOption) (*InboundRoute, error) {
	return call[InboundRoute](ctx, s.client, newRequest("PATCH", "/v1/inbound/routes/{id}", id).with(body), options)
}

// MailboxesService has the operations of mailboxes.
type MailboxesService struct {
	client       *Client
	AppPasswords *MailboxesAppPasswordsService
	Drafts       *MailboxesDraftsService
	Folders      *MailboxesFoldersService
	Imports      *MailboxesImportsService
	Messages     *MailboxesMessagesService
	Threads      *MailboxesThreadsService
}

// Create a mailbox.
func (s *MailboxesService) Create(ctx context.Context, body *CreateMailboxBody, options ...CallOption) (*CreatedMailbox, error) {
	return call[CreatedMailbox](ctx, s.client, newRequest("POST", "/v1/mailboxes").with(body), options)
}

// Delete a mailbox.
func (s *MailboxesService) Delete(ctx context.Context, id string, options ...CallOption) error {
	return callNone(ctx, s.client, newRequest("DELETE", "/v1/mailboxes/{id}", id), options)
}

// Remove the recovery address of a mailbox.
func (s *MailboxesService) DeleteRecoveryAddress(ctx context.Context, id string, options ...CallOption) error {
	return callNone(ctx, s.client, newRequest("DELETE", "/v1/mailboxes/{id}/recovery-address", id), options)
}

// End sessions of a mailbox.
func (s *MailboxesService) EndSessions(ctx context.Context, id string, body *EndMailboxSessionsBody, options ...CallOption) (*EndedSessions, error) {
	return call[EndedSessions](ctx, s.client, newRequest("POST", "/v1/mailboxes/{id}/sessions/end", id).with(body), options)
}

// Retrieve a mailbox.
func (s *MailboxesService) Get(ctx context.Context, id string, options ...CallOption) (*Mailbox, error) {
	return call[Mailbox](ctx, s.client, newRequest("GET", "/v1/mailboxes/{id}", id), options)
}

// Retrieve the recovery address of a mailbox.
func (s *MailboxesService) GetRecoveryAddress(ctx context.Context, id string, options ...CallOption) (*RecoveryAddress, error) {
	return call[RecoveryAddress](ctx, s.client, newRequest("GET", "/v1/mailboxes/{id}/recovery-address", id), options)
}

// Retrieve the settings for mail programs.
func (s *MailboxesService) GetSettings(ctx context.Context, id string, options ...CallOption) (*MailSettings, error) {
	return call[MailSettings](ctx, s.client, newRequest("GET", "/v1/mailboxes/{id}/settings", id), options)
}

// List mailboxes.
func (s *MailboxesService) List(ctx context.Context, query *ListMailboxesQuery, options ...CallOption) *Pager[Mailbox] {
	return list[Mailbox](ctx, s.client, newRequest("GET", "/v1/mailboxes").ask(query), options)
}

// List the sessions of a mailbox.
func (s *MailboxesService) ListSessions(ctx context.Context, id string, options ...CallOption) (*MailboxSessions, error) {
	return call[MailboxSessions](ctx, s.client, newRequest("GET", "/v1/mailboxes/{id}/sessions", id), options)
}

// Update a mailbox.
func (s *MailboxesService) Update(ctx context.Context, id string, body *UpdateMailboxBody, options ...CallOption) (*Mailbox, error) {
	return call[Mailbox](ctx, s.client, newRequest("PATCH", "/v1/mailboxes/{id}", id).with(body), options)
}

// MailboxesAppPasswordsService has the operations of mailboxes app passwords.
type MailboxesAppPasswordsService struct {
	client *Client
}

// Create an app password.
func (s *MailboxesAppPasswordsService) Create(ctx context.Context, mailboxID string, body *CreateAppPasswordBody, options ...CallOption) (*CreatedAppPassword, error) {
	return call[CreatedAppPassword](ctx, s.client, newRequest("POST", "/v1/mailboxes/{mailboxId}/app-passwords", mailboxID).with(body), options)
}

// Revoke an app password.
func (s *MailboxesAppPasswordsService) Delete(ctx context.Context, mailboxID, id string, options ...CallOption) error {
	return callNone(ctx, s.client, newRequest("DELETE", "/v1/mailboxes/{mailboxId}/app-passwords/{id}", mailboxID, id), options)
}

// Retrieve an app password.
func (s *MailboxesAppPasswordsService) Get(ctx context.Context, mailboxID, id string, options ...CallOption) (*AppPassword, error) {
	return call[AppPassword](ctx, s.client, newRequest("GET", "/v1/mailboxes/{mailboxId}/app-passwords/{id}", mailboxID, id), options)
}

// List app passwords.
func (s *MailboxesAppPasswordsService) List(ctx context.Context, mailboxID string, query *ListAppPasswordsQuery, options ...CallOption) *Pager[AppPassword] {
	return list[AppPassword](ctx, s.client, newRequest("GET", "/v1/mailboxes/{mailboxId}/app-passwords", mailboxID).ask(query), options)
}

// MailboxesDraftsService has the operations of mailboxes drafts.
type MailboxesDraftsService struct {
	client *Client
}

// Write a draft in a mailbox.
func (s *MailboxesDraftsService) Create(ctx context.Context, mailboxID string, body *CreateMailboxDraftBody, options ...CallOption) (*MailboxMessageSummary, error) {
	return call[MailboxMessageSummary](ctx, s.client, newRequest("POST", "/v1/mailboxes/{mailboxId}/drafts", mailboxID).with(body).keyed(), options)
}

// Send a draft of a mailbox.
func (s *MailboxesDraftsService) Send(ctx context.Context, mailboxID, id string, options ...CallOption) (*MailboxMessageSummary, error) {
	return call[MailboxMessageSummary](ctx, s.client, newRequest("POST", "/v1/mailboxes/{mailboxId}/drafts/{id}/send", mailboxID, id).keyed(), options)
}

// MailboxesFoldersService has the operations of mailboxes folders.
type MailboxesFoldersService struct {
	client *Client
}

// List the folders of a mailbox.
func (s *MailboxesFoldersService) List(ctx context.Context, mailboxID string, options ...CallOption) (*MailboxFolders, error) {
	return call[MailboxFolders](ctx, s.client, newRequest("GET", "/v1/mailboxes/{mailboxId}/folders", mailboxID), options)
}

// MailboxesImportsService has the operations of mailboxes imports.
type MailboxesImportsService struct {
	client *Client
}

// Create a mailbox import.
func (s *MailboxesImportsService) Create(ctx context.Context, mailboxID string, body *CreateMailboxImportBody, options ...CallOption) (*MailboxImport, error) {
	return call[MailboxImport](ctx, s.client, newRequest("POST", "/v1/mailboxes/{mailboxId}/imports", mailboxID).with(body), options)
}

// Delete a mailbox import.
func (s *MailboxesImportsService) Delete(ctx context.Context, mailboxID, id string, options ...CallOption) error {
	return callNone(ctx, s.client, newRequest("DELETE", "/v1/mailboxes/{mailboxId}/imports/{id}", mailboxID, id), options)
}

// Retrieve a mailbox import.
func (s *MailboxesImportsService) Get(ctx context.Context, mailboxID, id string, options ...CallOption) (*MailboxImport, error) {
	return call[MailboxImport](ctx, s.client, newRequest("GET", "/v1/mailboxes/{mailboxId}/imports/{id}", mailboxID, id), options)
}

// Download the messages that were not imported.
func (s *MailboxesImportsService) GetErrors(ctx context.Context, mailboxID, id string, options ...CallOption) (*Stream, error) {
	return callStream(ctx, s.client, newRequest("GET", "/v1/mailboxes/{mailboxId}/imports/{id}/errors", mailboxID, id), options)
}

// List mailbox imports.
func (s *MailboxesImportsService) List(ctx context.Context, mailboxID string, query *ListMailboxImportsQuery, options ...CallOption) *Pager[MailboxImport] {
	return list[MailboxImport](ctx, s.client, newRequest("GET", "/v1/mailboxes/{mailboxId}/imports", mailboxID).ask(query), options)
}

// MailboxesMessagesService has the operations of mailboxes messages.
type MailboxesMessagesService struct {
	client *Client
}

// Retrieve a message of a mailbox.
func (s *MailboxesMessagesService) Get(ctx context.Context, mailboxID, id string, options ...CallOption) (*MailboxMessage, error) {
	return call[MailboxMessage](ctx, s.client, newRequest("GET", "/v1/mailboxes/{mailboxId}/messages/{id}", mailboxID, id), options)
}

// Download an attachment of a message of a mailbox.
func (s *MailboxesMessagesService) GetAttachment(ctx context.Context, mailboxID, id string, number int, options ...CallOption) (*Stream, error) {
	return callStream(ctx, s.client, newRequest("GET", "/v1/mailboxes/{mailboxId}/messages/{id}/attachments/{number}", mailboxID, id, strconv.Itoa(number)), options)
}

// Download a message of a mailbox.
func (s *MailboxesMessagesService) GetRaw(ctx context.Context, mailboxID, id string, options ...CallOption) (*Stream, error) {
	return callStream(ctx, s.client, newRequest("GET", "/v1/mailboxes/{mailboxId}/messages/{id}/raw", mailboxID, id), options)
}

// List the messages of a mailbox.
func (s *MailboxesMessagesService) List(ctx context.Context, mailboxID string, query *ListMailboxMessagesQuery, options ...CallOption) *Pager[MailboxMessageSummary] {
	return list[MailboxMessageSummary](ctx, s.client, newRequest("GET", "/v1/mailboxes/{mailboxId}/messages", mailboxID).ask(query), options)
}

// Mark or move a message of a mailbox.
func (s *MailboxesMessagesService) Update(ctx context.Context, mailboxID, id string, body *UpdateMailboxMessageBody, options ...CallOption) (*MailboxMessageSummary, error) {
	return call[MailboxMessageSummary](ctx, s.client, newRequest("PATCH", "/v1/mailboxes/{mailboxId}/messages/{id}", mailboxID, id).with(body), options)
}

// MailboxesThreadsService has the operations of mailboxes threads.
type MailboxesThreadsService struct {
	client *Client
}

// Retrieve a thread of a mailbox.
func (s *MailboxesThreadsService) Get(ctx context.Context, mailboxID, id string, options ...CallOption) (*MailboxThread, error) {
	return call[MailboxThread](ctx, s.client, newRequest("GET", "/v1/mailboxes/{mailboxId}/threads/{id}", mailboxID, id), options)
}

// List the threads of a mailbox.
func (s *MailboxesThreadsService) List(ctx context.Context, mailboxID string, query *ListMailboxThreadsQuery, options ...CallOption) *Pager[MailboxThreadSummary] {
	return list[MailboxThreadSummary](ctx, s.client, newRequest("GET", "/v1/mailboxes/{mailboxId}/threads", mailboxID).ask(query), options)
}

// MetricsService has the operations of metrics.
type MetricsService struct {
	client *Client
}

// Count what became of your mail.
func (s *MetricsService) Get(ctx context.Context, query *GetMetricsQuery, options ...CallOption) (*Metrics, error) {
	return call[Metrics](ctx, s.client, newRequest("GET", "/v1/metrics").ask(query), options)
}

// PlanService has the operations of plan.
type PlanService struct {
	client *Client
}

// Retrieve the plan and its use.
func (s *PlanService) Get(ctx context.Context, options ...CallOption) (*Plan, error) {
	return call[Plan](ctx, s.client, newRequest("GET", "/v1/plan"), options)
}

// RequestLogService has the operations of request log.
type RequestLogService struct {
	client *Client
}

// List requests.
func (s *RequestLogService) List(ctx context.Context, query *ListRequestsQuery, options ...CallOption) *Pager[LoggedRequest] {
	return list[LoggedRequest](ctx, s.client, newRequest("GET", "/v1/request-log").ask(query), options)
}

// SegmentsService has the operations of segments.
type SegmentsService struct {
	client *Client
}

// Count the contacts that a filter finds.
func (s *SegmentsService) Count(ctx context.Context, body *CountSegmentBody, options ...CallOption) (*ContactCount, error) {
	return call[ContactCount](ctx, s.client, newRequest("POST", "/v1/segments/count").with(body), options)
}

// Create a segment.
func (s *SegmentsService) Create(ctx context.Context, body *CreateSegmentBody, options ...CallOption) (*Segment, error) {
	return call[Segment](ctx, s.client, newRequest("POST", "/v1/segments").with(body), options)
}

// Delete a segment.
func (s *SegmentsService) Delete(ctx context.Context, id string, options ...CallOption) error {
	return callNone(ctx, s.client, newRequest("DELETE", "/v1/segments/{id}", id), options)
}

// Retrieve a segment.
func (s *SegmentsService) Get(ctx context.Context, id string, query *GetSegmentQuery, options ...CallOption) (*Segment, error) {
	return call[Segment](ctx, s.client, newRequest("GET", "/v1/segments/{id}", id).ask(query), options)
}

// List segments.
func (s *SegmentsService) List(ctx context.Context, query *ListSegmentsQuery, options ...CallOption) *Pager[Segment] {
	return list[Segment](ctx, s.client, newRequest("GET", "/v1/segments").ask(query), options)
}

// List the contacts of a segment.
func (s *SegmentsService) ListContacts(ctx context.Context, id string, query *ListSegmentContactsQuery, options ...CallOption) *Pager[Contact] {
	return list[Contact](ctx, s.client, newRequest("GET", "/v1/segments/{id}/contacts", id).ask(query), options)
}

// Update a segment.
func (s *SegmentsService) Update(ctx context.Context, id string, body *UpdateSegmentBody, options ...CallOption) (*Segment, error) {
	return call[Segment](ctx, s.client, newRequest("PATCH", "/v1/segments/{id}", id).with(body), options)
}

// SimulatorService has the operations of simulator.
type SimulatorService struct {
	client *Client
}

// Remove the reply of the simulator.
func (s *SimulatorService) DeleteReply(ctx context.Context, options ...CallOption) error {
	return callNone(ctx, s.client, newRequest("DELETE", "/v1/simulator/reply"), options)
}

// Retrieve the reply of the simulator.
func (s *SimulatorService) GetReply(ctx context.Context, options ...CallOption) (*SimulatorReply, error) {
	return call[SimulatorReply](ctx, s.client, newRequest("GET", "/v1/simulator/reply"), options)
}

// Choose the reply of the simulator.
func (s *SimulatorService) SetReply(ctx context.Context, body *SetSimulatorReplyBody, options ...CallOption) (*SimulatorReply, error) {
	return call[SimulatorReply](ctx, s.client, newRequest("PUT", "/v1/simulator/reply").with(body), options)
}

// SuppressionsService has the operations of suppressions.
type SuppressionsService struct {
	client *Client
}

// Suppress an address.
func (s *SuppressionsService) Create(ctx context.Context, body *CreateSuppressionBody, options ...CallOption) (*Suppression, error) {
	return call[Suppression](ctx, s.client, newRequest("POST", "/v1/suppressions").with(body), options)
}

// Suppress up to 100 addresses.
func (s *SuppressionsService) CreateBatch(ctx context.Context, body *CreateSuppressionsBody, options ...CallOption) (*CreateSuppressionsAnswer, error) {
	return call[CreateSuppressionsAnswer](ctx, s.client, newRequest("POST", "/v1/suppressions/batch").with(body), options)
}

// Delete a suppression.
func (s *SuppressionsService) Delete(ctx context.Context, id string, options ...CallOption) error {
	return callNone(ctx, s.client, newRequest("DELETE", "/v1/suppressions/{id}", id), options)
}

// Remove up to 100 addresses from the list.
func (s *SuppressionsService) DeleteBatch(ctx context.Context, body *DeleteSuppressionsBody, options ...CallOption) (*DeleteSuppressionsAnswer, error) {
	return call[DeleteSuppressionsAnswer](ctx, s.client, newRequest("POST", "/v1/suppressions/batch/delete").with(body), options)
}

// Export suppressions to a CSV file.
func (s *SuppressionsService) ExportCSV(ctx context.Context, body *ExportSuppressionsBody, options ...CallOption) (*Export, error) {
	return call[Export](ctx, s.client, newRequest("POST", "/v1/suppressions/exports").with(body), options)
}

// Retrieve a suppression.
func (s *SuppressionsService) Get(ctx context.Context, id string, options ...CallOption) (*Suppression, error) {
	return call[Suppression](ctx, s.client, newRequest("GET", "/v1/suppressions/{id}", id), options)
}

// Import suppressions from a CSV file.
func (s *SuppressionsService) ImportCSV(ctx context.Context, file io.Reader, query *ImportSuppressionsQuery, options ...CallOption) (*ImportResult[SuppressionImportPreview], error) {
	return call[ImportResult[SuppressionImportPreview]](ctx, s.client, newRequest("POST", "/v1/suppressions/imports").upload(file).ask(query), options)
}

// List suppressions.
func (s *SuppressionsService) List(ctx context.Context, query *ListSuppressionsQuery, options ...CallOption) *Pager[Suppression] {
	return list[Suppression](ctx, s.client, newRequest("GET", "/v1/suppressions").ask(query), options)
}

// TemplatesService has the operations of templates.
type TemplatesService struct {
	client   *Client
	Versions *TemplatesVersionsService
}

// Create a template.
func (s *TemplatesService) Create(ctx context.Context, body *CreateTemplateBody, options ...CallOption) (*Template, error) {
	return call[Template](ctx, s.client, newRequest("POST", "/v1/templates").with(body), options)
}

// Delete a template.
func (s *TemplatesService) Delete(ctx context.Context, id string, options ...CallOption) error {
	return callNone(ctx, s.client, newRequest("DELETE", "/v1/templates/{id}", id), options)
}

// Retrieve a template.
func (s *TemplatesService) Get(ctx context.Context, id string, options ...CallOption) (*Template, error) {
	return call[Template](ctx, s.client, newRequest("GET", "/v1/templates/{id}", id), options)
}

// List templates.
func (s *TemplatesService) List(ctx context.Context, query *ListTemplatesQuery, options ...CallOption) *Pager[TemplateSummary] {
	return list[TemplateSummary](ctx, s.client, newRequest("GET", "/v1/templates").ask(query), options)
}

// Preview a template.
func (s *TemplatesService) Preview(ctx context.Context, body *PreviewTemplateBody, options ...CallOption) (*TemplatePreview, error) {
	return call[TemplatePreview](ctx, s.client, newRequest("POST", "/v1/templates/preview").with(body), options)
}

// Update a template.
func (s *TemplatesService) Update(ctx context.Context, id string, body *UpdateTemplateBody, options ...CallOption) (*Template, error) {
	return call[Template](ctx, s.client, newRequest("PATCH", "/v1/templates/{id}", id).with(body), options)
}

// TemplatesVersionsService has the operations of templates versions.
type TemplatesVersionsService struct {
	client *Client
}

// Retrieve a template version.
func (s *TemplatesVersionsService) Get(ctx context.Context, templateID, id string, options ...CallOption) (*TemplateVersion, error) {
	return call[TemplateVersion](ctx, s.client, newRequest("GET", "/v1/templates/{templateId}/versions/{id}", templateID, id), options)
}

// List template versions.
func (s *TemplatesVersionsService) List(ctx context.Context, templateID string, query *ListTemplateVersionsQuery, options ...CallOption) *Pager[TemplateVersionSummary] {
	return list[TemplateVersionSummary](ctx, s.client, newRequest("GET", "/v1/templates/{templateId}/versions", templateID).ask(query), options)
}

// Restore a template version.
func (s *TemplatesVersionsService) Restore(ctx context.Context, templateID, id string, options ...CallOption) (*Template, error) {
	return call[Template](ctx, s.client, newRequest("POST", "/v1/templates/{templateId}/versions/{id}/restore", templateID, id), options)
}

// TopicsService has the operations of topics.
type TopicsService struct {
	client *Client
}

// Create a topic.
func (s *TopicsService) Create(ctx context.Context, body *CreateTopicBody, options ...CallOption) (*Topic, error) {
	return call[Topic](ctx, s.client, newRequest("POST", "/v1/topics").with(body), options)
}

// Delete a topic.
func (s *TopicsService) Delete(ctx context.Context, id string, options ...CallOption) error {
	return callNone(ctx, s.client, newRequest("DELETE", "/v1/topics/{id}", id), options)
}

// Retrieve a topic.
func (s *TopicsService) Get(ctx context.Context, id string, options ...CallOption) (*Topic, error) {
	return call[Topic](ctx, s.client, newRequest("GET", "/v1/topics/{id}", id), options)
}

// List topics.
func (s *TopicsService) List(ctx context.Context, query *ListTopicsQuery, options ...CallOption) *Pager[Topic] {
	return list[Topic](ctx, s.client, newRequest("GET", "/v1/topics").ask(query), options)
}

// Update a topic.
func (s *TopicsService) Update(ctx context.Context, id string, body *UpdateTopicBody, options ...CallOption) (*Topic, error) {
	return call[Topic](ctx, s.client, newRequest("PATCH", "/v1/topics/{id}", id).with(body), options)
}

// WebhooksService has the operations of webhooks.
type WebhooksService struct {
	client     *Client
	Deliveries *WebhooksDeliveriesService
}

// Create a webhook endpoint.
func (s *WebhooksService) Create(ctx context.Context, body *CreateWebhookEndpointBody, options ...CallOption) (*WebhookEndpointWithSecret, error) {
	return call[WebhookEndpointWithSecret](ctx, s.client, newRequest("POST", "/v1/webhooks").with(body), options)
}

// Delete a webhook endpoint.
func (s *WebhooksService) Delete(ctx context.Context, id string, options ...CallOption) error {
	return callNone(ctx, s.client, newRequest("DELETE", "/v1/webhooks/{id}", id), options)
}

// Retrieve a webhook endpoint.
func (s *WebhooksService) Get(ctx context.Context, id string, options ...CallOption) (*WebhookEndpoint, error) {
	return call[WebhookEndpoint](ctx, s.client, newRequest("GET", "/v1/webhooks/{id}", id), options)
}

// List webhook endpoints.
func (s *WebhooksService) List(ctx context.Context, query *ListWebhookEndpointsQuery, options ...CallOption) *Pager[WebhookEndpoint] {
	return list[WebhookEndpoint](ctx, s.client, newRequest("GET", "/v1/webhooks").ask(query), options)
}

// Count failed and skipped deliveries.
func (s *WebhooksService) CountReplay(ctx context.Context, id string, query *CountWebhookReplayQuery, options ...CallOption) (*WebhookReplayCount, error) {
	return call[WebhookReplayCount](ctx, s.client, newRequest("GET", "/v1/webhooks/{id}/replay", id).ask(query), options)
}

// Post failed and skipped deliveries again.
func (s *WebhooksService) Replay(ctx context.Context, id string, body *ReplayWebhookDeliveriesBody, options ...CallOption) (*WebhookReplay, error) {
	return call[WebhookReplay](ctx, s.client, newRequest("POST", "/v1/webhooks/{id}/replay", id).with(body), options)
}

// Replace the secret of a webhook endpoint.
func (s *WebhooksService) RotateSecret(ctx context.Context, id string, body *RotateWebhookSecretBody, options ...CallOption) (*WebhookEndpointWithSecret, error) {
	return call[WebhookEndpointWithSecret](ctx, s.client, newRequest("POST", "/v1/webhooks/{id}/rotate-secret", id).with(body), options)
}

// Post a sample event to a webhook endpoint.
func (s *WebhooksService) Test(ctx context.Context, id string, body *TestWebhookEndpointBody, options ...CallOption) (*WebhookTestResult, error) {
	return call[WebhookTestResult](ctx, s.client, newRequest("POST", "/v1/webhooks/{id}/test", id).with(body), options)
}

// Update a webhook endpoint.
func (s *WebhooksService) Update(ctx context.Context, id string, body *UpdateWebhookEndpointBody, options ...CallOption) (*WebhookEndpoint, error) {
	return call[WebhookEndpoint](ctx, s.client, newRequest("PATCH", "/v1/webhooks/{id}", id).with(body), options)
}

// WebhooksDeliveriesService has the operations of webhooks deliveries.
type WebhooksDeliveriesService struct {
	client *Client
}

// Retrieve a webhook delivery.
func (s *WebhooksDeliveriesService) Get(ctx context.Context, webhookID, id string, options ...CallOption) (*WebhookDeliveryWithBody, error) {
	return call[WebhookDeliveryWithBody](ctx, s.client, newRequest("GET", "/v1/webhooks/{webhookId}/deliveries/{id}", webhookID, id), options)
}

// List webhook deliveries.
func (s *WebhooksDeliveriesService) List(ctx context.Context, webhookID string, query *ListWebhookDeliveriesQuery, options ...CallOption) *Pager[WebhookDelivery] {
	return list[WebhookDelivery](ctx, s.client, newRequest("GET", "/v1/webhooks/{webhookId}/deliveries", webhookID).ask(query), options)
}

// Post a delivery again.
func (s *WebhooksDeliveriesService) Replay(ctx context.Context, webhookID, id string, options ...CallOption) (*WebhookDelivery, error) {
	return call[WebhookDelivery](ctx, s.client, newRequest("POST", "/v1/webhooks/{webhookId}/deliveries/{id}/replay", webhookID, id), options)
}
