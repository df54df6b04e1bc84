// Asks the mock with the official Node SDKs and tells what each of them made of its answer.
//
//     node matrix.mjs FOLDER    where the SDKs are installed
//
// Reads {url, tasks: [{api, model, kind, how, timeout}]} from stdin and writes a list of what was heard,
// one for each task in their order, to stdout. `how` is `whole`, `stream` (event by event) or `helper`
// (the SDK's own way to gather a stream). Every setting of a client is its default but for the address
// and the key; `timeout`, in seconds, is given only where an answer never ends. What an application
// would have to look at is told as it was; the judging is done elsewhere.

import { createRequire } from "node:module";
import { join } from "node:path";
import { text } from "node:stream/consumers";

const require = createRequire(join(process.argv[2], "package.json"));
const OpenAI = require("openai");
const Anthropic = require("@anthropic-ai/sdk");

const KEY = "no-key-is-needed";
const SYSTEM = "Be brief.";
const QUESTION = "What is the weather in Köln?";
const WEATHER = '{"degrees": 21}';
const TOOL = "get_weather";
const ABOUT = "Tells the weather in a city.";
const SCHEMA = {
  type: "object",
  properties: { city: { type: "string" }, unit: { type: "string" } },
  required: ["city", "unit"],
  additionalProperties: false,
};
const INPUTS = ["one", "two"];
// A task that has not ended after so many ticks hangs: far beyond the timeout that the client was given,
// and ticks are late on a machine that is busy, just as the client's own timers are.
const TICK_MS = 100;
const LIMIT_TICKS = 150;
// So many at a time.
const LANES = 16;

/** What came of one call. */
class Heard {
  text = "";
  refusal = "";
  calls = [];
  begun = false; // Whether the event came that opens a stream.
  finish = null;
  usage = null;
  vectors = null;
  event = null; // An event that tells of a failure, handed on like any other.
  odd = null; // What was returned in place of an answer.
  error = null;

  /** Whether the SDK returned what it says it returns. */
  expect(answer) {
    if (typeof answer !== "object") this.odd = `a ${typeof answer}, not an answer`;
    return typeof answer === "object";
  }
}

/** The class of an exception and what it says. */
function label(error) {
  const name = error.constructor.name;
  const isOwn = error instanceof OpenAI.OpenAIError || error instanceof Anthropic.AnthropicError;
  if (!isOwn) return name === "TypeError" ? `${name}: ${error.message}` : name;
  return [name, error.status ?? error.code ?? error.type].filter(Boolean).join(" ");
}

/** One API of one SDK. Its methods fill in what they hear while they hear it. */
class Client {
  async ask(task, heard) {
    const options = task.timeout ? { timeout: task.timeout * 1000 } : {};
    const turns = this.firstTurn();
    // By this the server tells helpers from plain streams.
    if (task.how === "helper") options.headers = { "x-test-id": "helper" };
    await this[task.how](this.request(task, turns), options, heard);
    if (task.kind === "tool_result" && heard.calls.length === 1) {
      turns.push(...this.resultTurns(heard.calls[0]));
      heard.calls = [];
      heard.finish = null;
      await this[task.how](this.request(task, turns), options, heard);
    }
  }

  usesTools(task) {
    return task.kind === "tools" || task.kind === "tool_result";
  }
}

class Chat extends Client {
  constructor(url) {
    super();
    this.client = new OpenAI({ baseURL: `${url}/v1`, apiKey: KEY });
  }

  firstTurn() {
    return [
      { role: "system", content: SYSTEM },
      { role: "user", content: QUESTION },
    ];
  }

  resultTurns({ id, name, arguments: args }) {
    const asked = { id, type: "function", function: { name, arguments: args } };
    return [
      { role: "assistant", content: null, tool_calls: [asked] },
      { role: "tool", tool_call_id: id, content: WEATHER },
    ];
  }

  request(task, messages) {
    const tool = { name: TOOL, description: ABOUT, parameters: SCHEMA, strict: true };
    const tools = this.usesTools(task) ? { tools: [{ type: "function", function: tool }] } : {};
    const isCounted = task.kind === "usage" && task.how !== "whole";
    const usage = isCounted ? { stream_options: { include_usage: true } } : {};
    return { model: task.model, messages, ...tools, ...usage };
  }

  async whole(request, options, heard) {
    this.read(await this.client.chat.completions.create(request, options), heard);
  }

  async helper(request, options, heard) {
    this.read(await this.client.chat.completions.stream(request, options).finalChatCompletion(), heard);
  }

  read(answer, heard) {
    if (!heard.expect(answer)) return;
    const [{ message, finish_reason }] = answer.choices;
    heard.text = message.content ?? "";
    heard.refusal = message.refusal ?? "";
    for (const call of message.tool_calls ?? []) {
      heard.calls.push({ id: call.id, name: call.function.name, arguments: call.function.arguments });
    }
    heard.finish = finish_reason;
    if (answer.usage) heard.usage = [answer.usage.prompt_tokens, answer.usage.completion_tokens];
  }

  async stream(request, options, heard) {
    const chunks = await this.client.chat.completions.create({ ...request, stream: true }, options);
    for await (const chunk of chunks) {
      if (chunk.usage) heard.usage = [chunk.usage.prompt_tokens, chunk.usage.completion_tokens];
      for (const { delta, finish_reason } of chunk.choices) {
        heard.begun ||= delta.role === "assistant";
        heard.text += delta.content ?? "";
        heard.refusal += delta.refusal ?? "";
        for (const { index, id, function: call } of delta.tool_calls ?? []) {
          if (index === heard.calls.length) heard.calls.push({ id, name: call.name, arguments: "" });
          heard.calls[index].arguments += call.arguments ?? "";
        }
        heard.finish = finish_reason ?? heard.finish;
      }
    }
  }
}

class Embeddings extends Client {
  constructor(url) {
    super();
    this.client = new OpenAI({ baseURL: `${url}/v1`, apiKey: KEY });
  }

  async ask(task, heard) {
    const answer = await this.client.embeddings.create({ model: task.model, input: INPUTS });
    heard.vectors = answer.data.map((row) => row.embedding);
  }
}

class Responses extends Client {
  constructor(url) {
    super();
    this.client = new OpenAI({ baseURL: `${url}/v1`, apiKey: KEY });
  }

  firstTurn() {
    return [{ role: "user", content: QUESTION }];
  }

  resultTurns({ id, name, arguments: args }) {
    return [
      { type: "function_call", call_id: id, name, arguments: args },
      { type: "function_call_output", call_id: id, output: WEATHER },
    ];
  }

  request(task, input) {
    const tool = { type: "function", name: TOOL, description: ABOUT, parameters: SCHEMA, strict: true };
    const tools = this.usesTools(task) ? { tools: [tool] } : {};
    return { model: task.model, input, instructions: SYSTEM, ...tools };
  }

  async whole(request, options, heard) {
    this.read(await this.client.responses.create(request, options), heard);
  }

  async helper(request, options, heard) {
    this.read(await this.client.responses.stream(request, options).finalResponse(), heard);
  }

  read(answer, heard) {
    if (!heard.expect(answer)) return;
    heard.text = answer.output_text;
    for (const item of answer.output) {
      if (item.type === "function_call") this.call(heard, item, item.arguments);
      for (const part of item.content ?? []) heard.refusal += part.refusal ?? "";
    }
    this.end(heard, answer);
  }

  async stream(request, options, heard) {
    const events = await this.client.responses.create({ ...request, stream: true }, options);
    for await (const event of events) {
      switch (event.type) {
        case "response.created":
          heard.begun = true;
          break;
        case "response.output_text.delta":
          heard.text += event.delta;
          break;
        case "response.refusal.delta":
          heard.refusal += event.delta;
          break;
        case "response.output_item.added":
          if (event.item.type === "function_call") this.call(heard, event.item, "");
          break;
        case "response.function_call_arguments.delta":
          heard.calls.at(-1).arguments += event.delta;
          break;
        case "response.completed":
          this.end(heard, event.response);
          break;
        case "error":
        case "response.failed":
        case "response.incomplete":
          heard.event = event.type;
      }
    }
  }

  call(heard, item, args) {
    heard.calls.push({ id: item.call_id, name: item.name, arguments: args });
  }

  end(heard, answer) {
    heard.finish = answer.status;
    if (answer.usage) heard.usage = [answer.usage.input_tokens, answer.usage.output_tokens];
  }
}

class Messages extends Client {
  constructor(url) {
    super();
    this.client = new Anthropic({ baseURL: url, apiKey: KEY });
  }

  firstTurn() {
    return [{ role: "user", content: QUESTION }];
  }

  resultTurns({ id, name, arguments: args }) {
    return [
      { role: "assistant", content: [{ type: "tool_use", id, name, input: JSON.parse(args) }] },
      { role: "user", content: [{ type: "tool_result", tool_use_id: id, content: WEATHER }] },
    ];
  }

  request(task, messages) {
    const tool = { name: TOOL, description: ABOUT, input_schema: SCHEMA };
    const tools = this.usesTools(task) ? { tools: [tool] } : {};
    return { model: task.model, max_tokens: 1000, system: SYSTEM, messages, ...tools };
  }

  async whole(request, options, heard) {
    this.read(await this.client.messages.create(request, options), heard);
  }

  async helper(request, options, heard) {
    this.read(await this.client.messages.stream(request, options).finalMessage(), heard);
  }

  read(answer, heard) {
    if (!heard.expect(answer)) return;
    for (const block of answer.content) {
      if (block.type === "text") {
        heard.text += block.text;
      } else {
        const args = typeof block.input === "string" ? block.input : JSON.stringify(block.input);
        heard.calls.push({ id: block.id, name: block.name, arguments: args });
      }
    }
    heard.finish = answer.stop_reason;
    heard.usage = [answer.usage.input_tokens, answer.usage.output_tokens];
  }

  async stream(request, options, heard) {
    const events = await this.client.messages.create({ ...request, stream: true }, options);
    for await (const event of events) {
      switch (event.type) {
        case "message_start":
          heard.begun = true;
          heard.usage = [event.message.usage.input_tokens, 0];
          break;
        case "content_block_start":
          if (event.content_block.type === "tool_use") {
            const { id, name } = event.content_block;
            heard.calls.push({ id, name, arguments: "" });
          }
          break;
        case "content_block_delta":
          heard.text += event.delta.text ?? "";
          if (event.delta.type === "input_json_delta") {
            heard.calls.at(-1).arguments += event.delta.partial_json;
          }
          break;
        case "message_delta":
          heard.finish = event.delta.stop_reason;
          if (heard.usage) heard.usage[1] = event.usage.output_tokens;
      }
    }
  }
}

async function work(task, clients) {
  const heard = new Heard();
  let timer;
  const limit = new Promise((resolve) => {
    let left = task.timeout ? LIMIT_TICKS : Infinity;
    const tick = () => (left-- > 0 ? (timer = setTimeout(tick, TICK_MS)) : resolve({ hangs: true }));
    tick();
  });
  const asking = clients[task.api].ask(task, heard).then(
    () => heard,
    (error) => Object.assign(heard, { error: label(error) }),
  );
  const told = await Promise.race([asking, limit]);
  clearTimeout(timer);
  return told;
}

const { url, tasks } = JSON.parse(await text(process.stdin));
const clients = {
  chat: new Chat(url),
  embeddings: new Embeddings(url),
  responses: new Responses(url),
  messages: new Messages(url),
};
const told = [];
const rest = tasks.keys().filter((at) => !tasks[at].timeout);
async function lane() {
  for (const at of rest) told[at] = await work(tasks[at], clients);
}
await Promise.all(Array.from({ length: LANES }, lane));
// What is judged by a timeout comes last, when nothing keeps it from looking at its clock.
const timed = tasks.map(async (task, at) => task.timeout && (told[at] = await work(task, clients)));
await Promise.all(timed);
// Without waiting for those that hang.
process.stdout.write(JSON.stringify(told), () => process.exit(0));
