"""Chat templates of every family, rendered as transformers renders them, on a fixed date.

The templates are our own, modelled on the families': each has the constructs that theirs have.
"""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from tokenizers import Tokenizer, models, pre_tokenizers

from serving import tokens
from serving.errors import ServingError
from serving.tokens import TEMPLATE_ARGUMENTS, TODAY, ChatTokenizer

LLAMA = """
{{- bos_token }}
{%- if not date_string is defined %}
    {%- if strftime_now is defined %}{%- set date_string = strftime_now("%d %b %Y") %}
    {%- else %}{%- set date_string = "26 Jul 2024" %}{%- endif %}
{%- endif %}
{%- if not tools is defined %}{%- set tools = none %}{%- endif %}
{%- if messages[0]['role'] == 'system' %}
    {%- set told = messages[0]['content'] | trim %}{%- set messages = messages[1:] %}
{%- else %}{%- set told = "" %}{%- endif %}
{%- if tools is not none %}{{- "Environment: ipython\\n" }}{%- endif %}
{{- "Today: " + date_string + "\\n\\n" + told + "<|eot|>" }}
{%- for message in messages %}
    {%- if not (message.role == 'ipython' or 'tool_calls' in message) %}
        {{- '<|head|>' + message['role'] + '<|end|>\\n\\n' }}
        {{- message['content'] | trim + '<|eot|>' }}
    {%- endif %}
{%- endfor %}
{%- if add_generation_prompt %}{{- '<|head|>assistant<|end|>\\n\\n' }}{%- endif %}
"""

GEMMA3 = """
{{ bos_token }}
{%- if messages[0]['role'] == 'system' -%}
    {%- set prefix = messages[0]['content'] + '\\n\\n' -%}{%- set turns = messages[1:] -%}
{%- else -%}
    {%- set prefix = "" -%}{%- set turns = messages -%}
{%- endif -%}
{%- for message in turns -%}
    {%- if (message['role'] == 'user') != (loop.index0 % 2 == 0) -%}
        {{ raise_exception("Turns must alternate") }}
    {%- endif -%}
    {%- set role = "model" if message['role'] == 'assistant' else message['role'] -%}
    {{ '<turn>' + role + '\\n' + (prefix if loop.first else "") }}
    {%- if message['content'] is string -%}
        {{ message['content'] | trim }}
    {%- elif message['content'] is iterable -%}
        {%- for item in message['content'] -%}{{ item['text'] | trim }}{%- endfor -%}
    {%- endif -%}
    {{ '</turn>\\n' }}
{%- endfor -%}
{%- if add_generation_prompt -%}{{ '<turn>model\\n' }}{%- endif -%}
"""

# Qwen 3.5 and 3.6 think unless told not to.
QWEN3_6 = """
{%- macro told(content) -%}
    {%- if content is string -%}{{- content -}}
    {%- else -%}{%- for part in content -%}{{- part.text -}}{%- endfor -%}{%- endif -%}
{%- endmacro -%}
{%- for message in messages %}
    {%- set content = told(message.content) | trim %}
    {{- '<|im|>' + message.role + '\\n' + content.split('</think>')[-1] + '<|/im|>\\n' }}
{%- endfor %}
{%- if add_generation_prompt %}
    {{- '<|im|>assistant\\n' }}
    {%- if enable_thinking is defined and enable_thinking is false %}
        {{- '<think>\\n\\n</think>\\n\\n' }}
    {%- else %}
        {{- '<think>\\n' }}
    {%- endif %}
{%- endif %}
"""

MISTRAL = """
{%- set usual = "You are a model. The date is " + strftime_now("%Y-%m-%d") + "." %}
{{- bos_token + "[SYS]" + (usual if messages[0]["role"] != "system" else "") + "[/SYS]" }}
{%- for message in messages %}
    {%- if message["role"] in ("system", "user") %}
        {{- "[INST]" + message["content"] + "[/INST]" }}
    {%- elif message["role"] == "assistant" %}
        {%- generation %}{{- message["content"] + eos_token }}{%- endgeneration %}
    {%- endif %}
    {%- if loop.index > 40 %}{%- break %}{%- endif %}
{%- endfor %}
"""

FAMILIES = {"llama": LLAMA, "gemma3": GEMMA3, "qwen3_6": QWEN3_6, "mistral": MISTRAL}
ASKED = "What is <|x|> & “y”?"
CHATS = {
    "one turn": [{"role": "user", "content": ASKED}],
    "told how": [
        {"role": "system", "content": " Be brief. "},
        {"role": "user", "content": "Hello "},
    ],
    "begun": [
        {"role": "user", "content": "Hello"},
        {"role": "assistant", "content": "<think>\nHm.</think>\n\nHi"},
        {"role": "user", "content": "And?"},
    ],
}
SPECIAL = {"bos_token": "<s>", "eos_token": "</s>"}

# transformers' rendering of templates and chats (JSON), with a clock at a given day, without torch.
REFERENCE = """
import json, sys
from datetime import datetime
from transformers.utils import chat_template_utils
given = json.load(sys.stdin)
class Day(datetime):
    @classmethod
    def now(cls):
        return day
chat_template_utils.datetime = Day
rendered = []
for day, template, chat in given["cases"]:
    day = datetime.fromisoformat(day)
    rendered.append(chat_template_utils.render_jinja_template(
        conversations=[chat], chat_template=template, add_generation_prompt=True, **given["with"]
    )[0][0])
print(json.dumps(rendered))
"""


def chat_tokenizer(template: str) -> ChatTokenizer:
    tokenizer = Tokenizer(models.WordLevel({"?": 0}, unk_token="?"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    return ChatTokenizer(tokenizer, template, SPECIAL)


def test_every_family_is_rendered_as_transformers_and_a_server_with_any_clock_render_it() -> None:
    """The server gets the template with a fixed date; vLLM renders with transformers' function."""
    cases = [(source, chat) for source in FAMILIES.values() for chat in CHATS.values()]
    plain = [(TODAY.isoformat(), source, chat) for source, chat in cases]
    served = [("1999-12-31", tokens.on_a_fixed_day(source), chat) for source, chat in cases]
    done = subprocess.run(
        [sys.executable, "-c", REFERENCE],
        input=json.dumps({"cases": plain + served, "with": {**SPECIAL, **TEMPLATE_ARGUMENTS}}),
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )
    ours = [chat_tokenizer(source).render(chat) for source, chat in cases]
    assert all("Be brief." in prompt for prompt in ours[1 :: len(CHATS)])
    assert json.loads(done.stdout) == ours + ours


@pytest.mark.parametrize(
    ("asked", "written"),
    [
        ("%Y-%m-%d", "2026-01-01"),
        ("%d %B %Y", "01 January 2026"),
        ("%A, %b %-d", "Thursday, Jan 1"),
        ("%H:%M:%S %p %j", "00:00:00 AM 001"),
    ],
)
def test_a_template_is_told_the_fixed_day_however_it_asks(asked: str, written: str) -> None:
    template = f"{{{{ strftime_now('{asked}') }}}}"
    assert chat_tokenizer(template).render([]) == written == TODAY.strftime(asked)


def test_who_reasons_before_every_reply_shows_in_the_prompt() -> None:
    assert not any(chat_tokenizer(source).always_reasons for source in FAMILIES.values())
    thinking = QWEN3_6.replace("enable_thinking is false", "false")
    for source in (thinking, "{{ '<A><think>\\n' }}", "# Valid channels: analysis, final.<|s|>"):
        assert chat_tokenizer(source).always_reasons


HOSTILE = {
    "a range too wide": ("{% for a in range(10**9) %}a{% endfor %}", "refuses .*Range too big"),
    "a call without end": ("{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}", "recursion"),
    "deep": ("{{ " + "(" * 5000 + ")" * 5000 + " }}", "cannot be read|refuses"),
    "a fault of another kind": ("{{ 1 / 0 }}", "refuses the messages: division by zero"),
    "a text plus nothing": ("{{ 'a' + none }}", "refuses the messages: can only concatenate"),
    "a look out of the sandbox": ("{{ ''.__class__.__mro__ }}", "refuses the messages"),
    "a change of what it is given": ("{{ messages.append(1) }}", "refuses the messages"),
    "no template": ("{% for a in b %}", "cannot be read: .*endfor"),
    "turns": ("{{ raise_exception('Turns must alternate') }}", "messages: Turns must alternate"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_what_is_wrong_with_a_template_is_one_line(name: str) -> None:
    source, says = HOSTILE[name]
    with pytest.raises(ServingError, match=says) as caught:
        chat_tokenizer(source).render(CHATS["one turn"])
    assert "\n" not in str(caught.value)


def test_it_is_found_wherever_models_keep_it(tmp_path: Path) -> None:
    config = tmp_path / "tokenizer_config.json"
    bos = {"bos_token": {"content": "<s>"}, "pad_token": None, "add_bos_token": True}
    several = [{"name": "tool_use", "template": "t"}, {"name": "default", "template": "several"}]
    with pytest.raises(ServingError, match="has no chat template, so it is a base model"):
        tokens.chat_template(tmp_path)
    config.write_text(json.dumps({"chat_template": several}))
    assert tokens.chat_template(tmp_path) == ("several", {})
    config.write_text(json.dumps(bos | {"chat_template": "one"}))
    assert tokens.chat_template(tmp_path) == ("one", {"bos_token": "<s>"})
    (tmp_path / "chat_template.json").write_text('{"chat_template": "of the processor"}')
    assert tokens.chat_template(tmp_path)[0] == "of the processor"
    (tmp_path / "chat_template.jinja").write_text("file")
    assert tokens.chat_template(tmp_path)[0] == "file"
