import time
import unittest
from unittest import mock

from .support import KEY

from postrider import Client, PostriderError, webhooks

SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
BODY = '{"type":"email.delivered","createdAt":"2026-01-01T00:00:00.000Z","data":{"emailId":"em_1","to":"ä@x.test"}}'.encode()


class Webhooks(unittest.TestCase):
    def refuses(self, *args, **kwargs):
        with self.assertRaises(PostriderError) as caught:
            webhooks.verify(*args, **kwargs)
        self.assertEqual(caught.exception.type, "invalid_signature")

    def test_sign_and_verify(self):
        header = webhooks.sign(BODY, SECRET)
        for body in (BODY, bytearray(BODY), memoryview(BODY), BODY.decode()):
            event = webhooks.verify(body, header, SECRET)
            self.assertEqual((event.type, event["data"]["to"], event.data.email_id), ("email.delivered", "ä@x.test", "em_1"))
        with Client(KEY, "http://localhost") as client:
            self.assertEqual(client.webhooks.verify(BODY, client.webhooks.sign(BODY, SECRET), SECRET).type, "email.delivered")
        self.assertEqual(webhooks.sign(b"x", "s", 1700000000), "t=1700000000,v1=" + webhooks.sign(b"x", "s", 1700000000).split("v1=")[1])

    def test_several_signatures_and_unknown_parts(self):
        good = webhooks.sign(BODY, SECRET)
        moment, right = good.split(",")
        self.assertTrue(webhooks.verify(BODY, f"{moment},v0=x,v1={'0' * 64},{right}, new=1", SECRET))
        self.assertTrue(webhooks.verify(BODY, f"{right},{moment}", SECRET))
        self.refuses(BODY, f"{moment},v1={'0' * 64}", SECRET)

    def test_what_is_refused(self):
        header = webhooks.sign(BODY, SECRET)
        moment, right = header.split(",")
        changed = BODY.replace(b"em_1", b"em_2")
        for body, sent, secret in (
            (changed, header, SECRET),
            (BODY + b" ", header, SECRET),
            (BODY, header, SECRET + "x"),
            (BODY, header.upper().replace("T=", "t=").replace("V1=", "v1="), SECRET),
            (BODY, header, ""),
            (BODY, header, None),
            (BODY, None, SECRET),
            (BODY, "", SECRET),
            (BODY, moment, SECRET),
            (BODY, right, SECRET),
            (BODY, f"t=x,{right}", SECRET),
            (BODY, f"t=²,{right}", SECRET),
            (BODY, f"t=-1,{right}", SECRET),
            (BODY, f"t={'9' * 5000},{right}", SECRET),
            (BODY, f"{moment},v1=ä\ud800", SECRET),
            (BODY, f"{moment},v1=", SECRET),
            (b"[1]", webhooks.sign(b"[1]", SECRET), SECRET),
            (b"\xff", webhooks.sign(b"\xff", SECRET), SECRET),
        ):
            self.refuses(body, sent, secret)
        for wrong in ({"type": "x"}, None):
            self.assertRaises(PostriderError, webhooks.verify, wrong, header, SECRET)

    def test_tolerance(self):
        for age, right in ((300, True), (301, False), (-300, True), (-301, False)):
            with mock.patch.object(webhooks.clock, "time", lambda: 1_700_000_000.9):
                header = webhooks.sign(BODY, SECRET, 1_700_000_000 - age)
                if right:
                    self.assertTrue(webhooks.verify(BODY, header, SECRET))
                else:
                    self.refuses(BODY, header, SECRET)
        self.assertTrue(webhooks.verify(BODY, webhooks.sign(BODY, SECRET, time.time() - 1000), SECRET, tolerance=2000))

    def test_nothing_is_parsed_before_the_signature_is_right(self):
        with mock.patch.object(webhooks.json, "loads") as loads:
            self.refuses(BODY, webhooks.sign(BODY, "other"), SECRET)
            loads.assert_not_called()
