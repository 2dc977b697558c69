/** `workspace/chunk_loss.py`: chunked cross entropy. */
export const LOSS_SOURCE = `"""Cross entropy in chunks: logits of one chunk at a time, their gradient computed at once, nothing of full size kept."""

import torch
import torch.nn.functional as F


class ChunkedLoss(torch.autograd.Function):
    @staticmethod
    def forward(ctx, hidden, weight, labels, token_weights, chunks):
        total = torch.zeros((), dtype=torch.float32, device=hidden.device)
        grad_hidden = []
        grad_weight = torch.zeros_like(weight)
        for part, label, scale in zip(hidden.chunk(chunks), labels.chunk(chunks), token_weights.chunk(chunks)):
            with torch.enable_grad():
                part = part.detach().requires_grad_()
                head = weight.detach().requires_grad_()
                logits = (part @ head).float()
                loss = (F.cross_entropy(logits, label, reduction="none") * scale).sum()
            total = total + loss.detach()
            grad_part, grad_head = torch.autograd.grad(loss, (part, head))
            grad_hidden.append(grad_part)
            grad_weight += grad_head
        ctx.save_for_backward(torch.cat(grad_hidden), grad_weight)
        return total

    @staticmethod
    def backward(ctx, grad):
        grad_hidden, grad_weight = ctx.saved_tensors
        return (grad_hidden * grad).to(grad_hidden.dtype), (grad_weight * grad).to(grad_weight.dtype), None, None, None
`;
