"""All resources of a client."""

from . import accounts, people, sending
from .resource import Run


class Resources:
    def __init__(self, run: Run) -> None:
        self.api_keys = accounts.ApiKeys(run)
        self.approvals = sending.Approvals(run)
        self.audiences = people.Audiences(run)
        self.branding = sending.Branding(run)
        self.broadcasts = sending.Broadcasts(run)
        self.contacts = people.Contacts(run)
        self.domains = sending.Domains(run)
        self.emails = sending.Emails(run)
        self.exports = people.Exports(run)
        self.imports = people.Imports(run)
        self.inbound = accounts.Inbound(run)
        self.mailboxes = accounts.Mailboxes(run)
        self.metrics = sending.Metrics(run)
        self.plan = accounts.Plan(run)
        self.request_log = accounts.RequestLog(run)
        self.segments = people.Segments(run)
        self.simulator = sending.Simulator(run)
        self.suppressions = people.Suppressions(run)
        self.templates = sending.Templates(run)
        self.topics = people.Topics(run)
        self.webhooks = sending.Webhooks(run)
