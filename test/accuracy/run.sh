#!/bin/bash
# Reproduces docs/accuracy.md: records tiny models on the CPU, scores them, prints the tables. Outside CI; about half an hour.
#
#     PYTHON=venv/bin/python test/accuracy/run.sh OUT_DIR [record|score|report]
#
# PYTHON needs torch, transformers and, for the other projects, einops. Without a second argument all three parts run. With
# PROJECTS=DIR, a folder with checkouts of the projects that projects.py names, those are run and scored too.
set -u
cd "$(dirname "$0")/../.."
python=${PYTHON:-python3}
out=$1
part=${2:-all}
developed=llama,qwen3,qwen3_moe,qwen3_5_text,qwen3_next,gemma,gpt_oss,t5,mamba2
held=mistral,gemma2,gemma3_text,phi,phi3,gpt2,gpt_neox,gptj,gpt_neo,codegen,opt,bloom,falcon,mixtral,qwen2,qwen2_moe,olmo,olmo2,olmoe,stablelm,starcoder2,cohere,cohere2,granite,granitemoe,deepseek_v2,deepseek_v3,glm,glm4,nemotron,persimmon,biogpt,gpt_bigcode,mpt,xglm,bart,mamba,falcon_mamba,smollm3,ernie4_5,jamba,lfm2,exaone4,phimoe,mt5,helium,apertus,arcee

record() {
  local name=$1 families=$2
  shift 2
  "$python" test/accuracy/record.py "$families" "$out/runs/$name" "$@" 2> /dev/null
}

if [ "$part" = all ] || [ "$part" = record ]; then
  record base $developed
  record base $held
  record noisy $developed --satellites 0.15 --drops 0.03
  record checkpoint $developed --checkpoint
  record sdpa $developed --attention sdpa
  record noapi $developed --no-api
  record nodtypes $developed --no-dtypes
  record dropout $developed --dropout 0.1
  record fused $developed --fused-norms
  if [ -n "${PROJECTS:-}" ]; then
    "$python" test/accuracy/projects.py "$PROJECTS" "$out/projects"
  fi
fi

package=$("$python" -c 'import os, transformers; print(os.path.dirname(transformers.__file__))')
score() {
  local mode=$1
  shift
  JSON=$out/results.jsonl npx tsx test/accuracy/score.ts "$package" "$mode" "$@"
}

if [ "$part" = all ] || [ "$part" = score ]; then
  rm -f "$out/results.jsonl"
  score own "$out"/runs/base/*
  score absent "$out"/runs/base/*
  score bare "$out"/runs/base/*
  score all "$out"/runs/base/*
  for name in noisy checkpoint sdpa noapi nodtypes dropout fused; do
    score own "$out"/runs/$name/*
  done
  if [ -n "${PROJECTS:-}" ]; then
    JSON=$out/results.jsonl npx tsx test/accuracy/scoreProjects.ts "$PROJECTS" "$out"/projects/*
  fi
fi

if [ "$part" = all ] || [ "$part" = report ]; then
  DEVELOPED=$developed npx tsx test/accuracy/report.ts "$out/results.jsonl"
fi
