// Set-up by chat, for people who prefer questions to a form.

import { z } from "zod";
import { readAiSettings } from "../../../agents/ai-settings.ts";
import { checkMaySetUp } from "../../../setup/setup-access.ts";
import { parseGuidance, redactGuideInput } from "../../../setup/guide.ts";
import { readSentence } from "../../../setup/sentences/read-sentence.ts";
import { fail } from "../../../../lib/sys-error.ts";
import { GuideMessage, Lane, OnboardingAssistPatch, OnboardingDraft } from "../../../../protocol/onboarding.ts";
import { strangerSyscall } from "../../define.ts";

const MESSAGES_MAX = 50;
/** Before there is a user, only the system's settings apply. */
const NOBODY = 0;

export default strangerSyscall({
  name: "sys.setup.assist",
  doc: "Ask for help with set-up in plain words: the answer has words and proposes values for the form. Plain sentences and common questions are answered without a model; anything else goes to the gateway's own model, if it has one. Passwords and keys are never sent to it, and it can only propose values that are not secret; this call sets nothing. If others can reach the gateway, `code` is the one of sys.setup.",
  runs: "kernel",
  does: "effect",
  from: ["stranger"],
  when: "setup",
  grant: [],
  args: z.object({
    lane: Lane,
    draft: OnboardingDraft,
    messages: z.array(GuideMessage).max(MESSAGES_MAX),
    code: z.string().max(256).optional(),
  }),
  result: z.object({
    message: z.string(),
    patches: z.array(OnboardingAssistPatch),
    reviewReady: z.boolean(),
    focus: z.string().optional(),
  }),
  fails: {
    400: "a value is not valid, or the model did not answer in the required format",
    403: "the one-time code is missing or wrong",
    409: "the gateway already has a user",
    429: "too many wrong codes, or too many questions",
  },
  example: {
    args: {
      lane: "quick",
      draft: {
        lane: "quick",
        mode: "guided",
        stage: "details",
        detailStep: "account",
        account: { username: "", password: "", passwordConfirm: "" },
        admin: { mode: "same", password: "" },
        system: { timezone: "Europe/Berlin" },
        ai: { enabled: false, provider: "", model: "", apiKey: "" },
        source: { enabled: false, value: "", ref: "" },
        device: { enabled: false, deviceId: "", label: "", expiryDays: "" },
      },
      messages: [{ role: "user", content: "call me ada" }],
    },
    result: {
      message: "Your name here is ada. Enter your password in the form; everything else can stay as it is.",
      patches: [{ op: "set", path: "account.username", value: "ada" }],
      reviewReady: true,
      focus: "account.password",
    },
  },
  async run(context, stranger, { code, ...input }) {
    checkMaySetUp(context, code, stranger.address);
    context.throttle.countOperation("assist", stranger.address, context.now);
    const { choice } = readAiSettings(context.config, NOBODY);
    const redacted = redactGuideInput(input);
    const { isUnderstood, ...answer } = readSentence(redacted, choice.provider === "demo");
    const said = isUnderstood ? null : await context.trials.askGuide(choice, redacted, context.signal);
    if (said === null) return answer;
    return parseGuidance(said) ?? fail(400, "The guide's answer could not be read: ask again, or continue with the form");
  },
});
