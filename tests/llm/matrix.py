#!/usr/bin/env python3
"""Asks the mock with the official Python SDKs and tells what each of them made of its answer.

Reads {"url", "tasks": [{"api", "model", "kind", "how", "timeout"}]} from stdin and writes a list of what
was heard, one for each task in their order, to stdout. `how` is `whole`, `stream` (event by event) or
`helper` (the SDK's own way to gather a stream). Every setting of a client is its default but for the
address and the key; `timeout`, in seconds, is given only where an answer never ends. What an application
would have to look at is told as it was; the judging is done elsewhere.
"""

import json
import os
import sys
from concurrent.futures import ThreadPoolExecutor, wait

import anthropic
import openai
from google import genai
from google.genai import types

KEY = "no-key-is-needed"
SYSTEM = "Be brief."
QUESTION = "What is the weather in Köln?"
WEATHER = '{"degrees": 21}'
TOOL = "get_weather"
ABOUT = "Tells the weather in a city."
SCHEMA = {
    "type": "object",
    "properties": {"city": {"type": "string"}, "unit": {"type": "string"}},
    "required": ["city", "unit"],
    "additionalProperties": False,
}
INPUTS = ["one", "two"]
HELPER = {"extra_headers": {"x-test-id": "helper"}}  # By this the server tells them from plain streams.
LANES = 16  # So many at a time.
LIMIT_S = 300  # A task that has not ended by then hangs.


class Heard:
    """What came of one call."""

    def __init__(self):
        self.text = ""
        self.refusal = ""
        self.calls = []
        self.begun = False  # Whether the event came that opens a stream.
        self.finish = None
        self.usage = None
        self.vectors = None
        self.event = None  # An event that tells of a failure, handed on like any other.
        self.odd = None  # What was returned in place of an answer.
        self.error = None

    def expect(self, answer, kind):
        """Whether the SDK returned what it says it returns."""
        if not isinstance(answer, kind):
            self.odd = f"a {type(answer).__name__}, not an answer"
        return isinstance(answer, kind)


def label(error):
    """The class of an exception, with the module where it is not the SDK's own, and what it says."""
    kind = type(error)
    module = kind.__module__.split(".")[0]
    is_own = module in ("openai", "anthropic", "google")
    words = [kind.__name__ if is_own or module == "builtins" else f"{module}.{kind.__name__}"]
    status = getattr(error, "status_code", None) or getattr(error, "code", None)
    words += [str(status)] if status else []
    body = getattr(error, "body", None)
    if status == 200 and isinstance(body, dict):
        words.append(body.get("error", body).get("type", ""))
    return " ".join(words)


class Client:
    """One API of one SDK. Its methods fill in what they hear while they hear it."""

    def ask(self, task, heard):
        options = {"timeout": task["timeout"]} if task["timeout"] else {}
        turns = self.first_turn()
        say = getattr(self, task["how"])
        say(task, turns, options, heard)
        if task["kind"] == "tool_result" and len(heard.calls) == 1:
            turns += self.result_turns(heard.calls[0])
            heard.calls, heard.finish = [], None
            say(task, turns, options, heard)


class Chat(Client):
    def __init__(self, url):
        self.client = openai.OpenAI(base_url=f"{url}/v1", api_key=KEY)

    def first_turn(self):
        return [{"role": "system", "content": SYSTEM}, {"role": "user", "content": QUESTION}]

    def result_turns(self, call):
        asked = {"id": call["id"], "type": "function"}
        asked["function"] = {"name": call["name"], "arguments": call["arguments"]}
        return [
            {"role": "assistant", "content": None, "tool_calls": [asked]},
            {"role": "tool", "tool_call_id": call["id"], "content": WEATHER},
        ]

    def request(self, task, turns, options):
        options = options | {"model": task["model"], "messages": turns}
        if task["kind"] in ("tools", "tool_result"):
            function = {"name": TOOL, "description": ABOUT, "parameters": SCHEMA, "strict": True}
            options["tools"] = [{"type": "function", "function": function}]
        if task["kind"] == "usage" and task["how"] != "whole":
            options["stream_options"] = {"include_usage": True}
        return options

    def whole(self, task, turns, options, heard):
        self.read(self.client.chat.completions.create(**self.request(task, turns, options)), heard)

    def helper(self, task, turns, options, heard):
        request = self.request(task, turns, options | HELPER)
        with self.client.chat.completions.stream(**request) as stream:
            self.read(stream.get_final_completion(), heard)

    def read(self, answer, heard):
        if not heard.expect(answer, openai.types.chat.ChatCompletion):
            return
        choice = answer.choices[0]
        heard.text = choice.message.content or ""
        heard.refusal = choice.message.refusal or ""
        for call in choice.message.tool_calls or []:
            self.call(heard, call.id, call.function.name, call.function.arguments)
        heard.finish = choice.finish_reason
        if answer.usage:
            heard.usage = [answer.usage.prompt_tokens, answer.usage.completion_tokens]

    def stream(self, task, turns, options, heard):
        request = self.request(task, turns, options)
        for chunk in self.client.chat.completions.create(**request, stream=True):
            if chunk.usage:
                heard.usage = [chunk.usage.prompt_tokens, chunk.usage.completion_tokens]
            for choice in chunk.choices:
                heard.begun = heard.begun or choice.delta.role == "assistant"
                heard.text += choice.delta.content or ""
                heard.refusal += choice.delta.refusal or ""
                for call in choice.delta.tool_calls or []:
                    if call.index == len(heard.calls):
                        self.call(heard, call.id, call.function.name, "")
                    heard.calls[call.index]["arguments"] += call.function.arguments or ""
                heard.finish = choice.finish_reason or heard.finish

    def call(self, heard, identifier, name, arguments):
        heard.calls.append({"id": identifier, "name": name, "arguments": arguments})


class Embeddings(Client):
    def __init__(self, url):
        self.client = openai.OpenAI(base_url=f"{url}/v1", api_key=KEY)

    def ask(self, task, heard):
        answer = self.client.embeddings.create(model=task["model"], input=INPUTS)
        heard.vectors = [row.embedding for row in answer.data]


class Responses(Client):
    def __init__(self, url):
        self.client = openai.OpenAI(base_url=f"{url}/v1", api_key=KEY)

    def first_turn(self):
        return [{"role": "user", "content": QUESTION}]

    def result_turns(self, call):
        asked = {"type": "function_call", "call_id": call["id"], "name": call["name"]}
        result = {"type": "function_call_output", "call_id": call["id"], "output": WEATHER}
        return [asked | {"arguments": call["arguments"]}, result]

    def request(self, task, turns, options):
        options = options | {"model": task["model"], "input": turns, "instructions": SYSTEM}
        if task["kind"] in ("tools", "tool_result"):
            tool = {"type": "function", "name": TOOL, "description": ABOUT}
            options["tools"] = [tool | {"parameters": SCHEMA, "strict": True}]
        return options

    def whole(self, task, turns, options, heard):
        self.read(self.client.responses.create(**self.request(task, turns, options)), heard)

    def helper(self, task, turns, options, heard):
        with self.client.responses.stream(**self.request(task, turns, options | HELPER)) as stream:
            self.read(stream.get_final_response(), heard)

    def read(self, answer, heard):
        if heard.expect(answer, openai.types.responses.Response):
            heard.text = answer.output_text
            for item in answer.output:
                if item.type == "function_call":
                    self.call(heard, item, item.arguments)
                for part in getattr(item, "content", None) or []:
                    heard.refusal += getattr(part, "refusal", "")
            self.end(heard, answer)

    def stream(self, task, turns, options, heard):
        request = self.request(task, turns, options)
        for event in self.client.responses.create(**request, stream=True):
            match event.type:
                case "response.created":
                    heard.begun = True
                case "response.output_text.delta":
                    heard.text += event.delta
                case "response.refusal.delta":
                    heard.refusal += event.delta
                case "response.output_item.added" if event.item.type == "function_call":
                    self.call(heard, event.item, "")
                case "response.function_call_arguments.delta":
                    heard.calls[-1]["arguments"] += event.delta
                case "response.completed":
                    self.end(heard, event.response)
                case "error" | "response.failed" | "response.incomplete":
                    heard.event = event.type

    def call(self, heard, item, arguments):
        heard.calls.append({"id": item.call_id, "name": item.name, "arguments": arguments})

    def end(self, heard, answer):
        heard.finish = answer.status
        if answer.usage:
            heard.usage = [answer.usage.input_tokens, answer.usage.output_tokens]


class Messages(Client):
    def __init__(self, url):
        self.client = anthropic.Anthropic(base_url=url, api_key=KEY)

    def first_turn(self):
        return [{"role": "user", "content": QUESTION}]

    def result_turns(self, call):
        asked = {"type": "tool_use", "id": call["id"], "name": call["name"]}
        result = {"type": "tool_result", "tool_use_id": call["id"], "content": WEATHER}
        return [
            {"role": "assistant", "content": [asked | {"input": json.loads(call["arguments"])}]},
            {"role": "user", "content": [result]},
        ]

    def request(self, task, turns, options):
        options = options | {"model": task["model"], "messages": turns, "system": SYSTEM}
        if task["kind"] in ("tools", "tool_result"):
            options["tools"] = [{"name": TOOL, "description": ABOUT, "input_schema": SCHEMA}]
        return options | {"max_tokens": 1000}

    def whole(self, task, turns, options, heard):
        self.read(self.client.messages.create(**self.request(task, turns, options)), heard)

    def helper(self, task, turns, options, heard):
        with self.client.messages.stream(**self.request(task, turns, options | HELPER)) as stream:
            self.read(stream.get_final_message(), heard)

    def read(self, answer, heard):
        if not heard.expect(answer, anthropic.types.Message):
            return
        for block in answer.content:
            if block.type == "text":
                heard.text += block.text
            else:
                arguments = block.input if isinstance(block.input, str) else json.dumps(block.input)
                heard.calls.append({"id": block.id, "name": block.name, "arguments": arguments})
        heard.finish = answer.stop_reason
        heard.usage = [answer.usage.input_tokens, answer.usage.output_tokens]

    def stream(self, task, turns, options, heard):
        request = self.request(task, turns, options)
        for event in self.client.messages.create(**request, stream=True):
            match event.type:
                case "message_start":
                    heard.begun = True
                    heard.usage = [event.message.usage.input_tokens, 0]
                case "content_block_start" if event.content_block.type == "tool_use":
                    block = event.content_block
                    heard.calls.append({"id": block.id, "name": block.name, "arguments": ""})
                case "content_block_delta" if event.delta.type == "text_delta":
                    heard.text += event.delta.text
                case "content_block_delta" if event.delta.type == "input_json_delta":
                    heard.calls[-1]["arguments"] += event.delta.partial_json
                case "message_delta":
                    heard.finish = event.delta.stop_reason
                    if heard.usage:
                        heard.usage[1] = event.usage.output_tokens


class Gemini(Client):
    def __init__(self, url):
        self.client = genai.Client(api_key=KEY, http_options={"base_url": url})

    def first_turn(self):
        return [types.Content(role="user", parts=[types.Part(text=QUESTION)])]

    def result_turns(self, call):
        arguments = json.loads(call["arguments"])
        asked = types.Part.from_function_call(name=call["name"], args=arguments)
        result = types.Part.from_function_response(name=call["name"], response=json.loads(WEATHER))
        return [types.Content(role="model", parts=[asked]), types.Content(role="user", parts=[result])]

    def settings(self, task, options):
        settings = {"system_instruction": SYSTEM}
        if options:
            settings["http_options"] = types.HttpOptions(timeout=int(options["timeout"] * 1000))
        if task["kind"] in ("tools", "tool_result"):
            function = types.FunctionDeclaration(
                name=TOOL, description=ABOUT, parameters_json_schema=SCHEMA
            )
            settings["tools"] = [types.Tool(function_declarations=[function])]
        return types.GenerateContentConfig(**settings)

    def whole(self, task, turns, options, heard):
        settings = self.settings(task, options)
        answer = self.client.models.generate_content(model=task["model"], contents=turns, config=settings)
        self.read(answer, heard)

    def stream(self, task, turns, options, heard):
        settings = self.settings(task, options)
        chunks = self.client.models.generate_content_stream
        heard.begun = True  # No event of this API opens a stream.
        for chunk in chunks(model=task["model"], contents=turns, config=settings):
            self.read(chunk, heard)

    def read(self, answer, heard):
        if not heard.expect(answer, types.GenerateContentResponse):
            return
        if answer.prompt_feedback:
            heard.refusal += answer.prompt_feedback.block_reason_message or ""
            heard.finish = answer.prompt_feedback.block_reason.name
        for candidate in answer.candidates or []:
            for part in (candidate.content and candidate.content.parts) or []:
                heard.text += part.text or ""
                if part.function_call:
                    call = part.function_call
                    arguments = json.dumps(call.args)
                    heard.calls.append({"id": call.id, "name": call.name, "arguments": arguments})
            if candidate.finish_reason:
                heard.finish = candidate.finish_reason.name
        if answer.usage_metadata:
            usage = answer.usage_metadata
            heard.usage = [usage.prompt_token_count, usage.candidates_token_count]


CLIENTS = {
    "chat": Chat,
    "embeddings": Embeddings,
    "responses": Responses,
    "messages": Messages,
    "gemini": Gemini,
}


def work(task, clients):
    heard = Heard()
    try:
        clients[task["api"]].ask(task, heard)
    except Exception as error:
        heard.error = label(error)
    return vars(heard)


def main():
    asked = json.load(sys.stdin)
    clients = {name: kind(asked["url"]) for name, kind in CLIENTS.items()}
    tasks = asked["tasks"]
    running = {}
    # What is judged by a timeout comes last: threads that work would keep it from looking at its clock.
    for is_timed, lanes in [(False, LANES), (True, len(tasks))]:
        pool = ThreadPoolExecutor(lanes)
        of_kind = [at for at, task in enumerate(tasks) if bool(task["timeout"]) == is_timed]
        running |= {at: pool.submit(work, tasks[at], clients) for at in of_kind}
        wait(running.values(), timeout=LIMIT_S)
    told = [running[at].result() if running[at].done() else {"hangs": True} for at in range(len(tasks))]
    json.dump(told, sys.stdout)
    sys.stdout.flush()
    os._exit(0)  # Without those that hang.


if __name__ == "__main__":
    main()
