"""Which tests show that what people met elsewhere does not happen here: for each scenario of `tests/conformance/bug_reports.md`.

Areas: GRA the graph, DIA diagnostics, DUR crash and resume, VER pinning and migration, WRK what a worker asks for, CON concurrency and
retries, JUD verdicts, EVI evidence, CND conditions, SUR the surfaces, SEC secrets, injected texts, seals and keys.
"""

from collections.abc import Mapping
from typing import Final

AREAS: Final = ("GRA", "DIA", "DUR", "VER", "WRK", "CON", "JUD", "EVI", "CND", "SUR", "SEC")
"""Areas of which every scenario is in the table."""

CASES: Final[Mapping[str, tuple[str, ...]]] = {
    "S-DUR-1": (
        "tests/store/test_crashes.py::test_a_log_of_pages_cut_at_any_byte_holds_all_earlier_entries_and_the_last_ones_only_whole",
        "tests/store/test_crashes.py::test_a_process_killed_at_a_statement_of_an_append_leaves_all_of_it_or_nothing",
        "tests/store/test_processes.py::test_a_process_killed_at_any_moment_loses_nothing_that_it_acknowledged",
        "tests/crash/test_crash_stories.py::test_a_run_on_sqlite_that_is_killed_and_resumed_loses_nothing",
        "tests/crash/test_crash_stories.py::test_a_run_on_postgresql_that_is_killed_and_resumed_loses_nothing",
    ),
    "S-DUR-2": (
        "tests/cases/test_durability.py::test_a_record_damaged_in_the_middle_ends_reading_there_and_is_not_gone_on_with",
        "tests/store/test_damage.py::test_a_changed_entry_is_named_and_the_ones_before_it_are_read",
        "tests/store/test_damage.py::test_a_byte_changed_in_the_file_is_named_by_its_entry",
    ),
    "S-DUR-3": (
        "tests/cases/test_durability.py::test_a_recovery_sweep_leaves_alone_what_a_driver_in_another_process_verifies",
        "tests/runtime/engine/test_leases.py::test_a_recovery_sweep_leaves_an_attempt_alone_that_is_verified",
    ),
    "S-DUR-4": (
        "tests/cases/test_durability.py::test_each_look_and_each_export_during_transitions_shows_exactly_one_current_state",
        "tests/runtime/session/test_export.py::test_an_export_without_a_current_state_is_refused",
        "tests/runtime/session/test_export.py::test_an_export_whose_log_enters_two_states_at_once_is_refused",
    ),
    "S-DUR-5": (
        "tests/cases/test_durability.py::test_a_worker_with_a_long_history_goes_on_in_memory_that_does_not_grow_with_it",
        "tests/runtime/engine/test_checkpoints.py::test_restoring_reads_no_more_entries_of_a_longer_log",
        "tests/runtime/session/test_verification.py::test_a_long_log_is_verified_in_memory_that_does_not_grow_with_it",
    ),
    "S-CND-1": (
        "tests/cases/test_conditions.py::test_a_value_that_was_never_written_is_neither_true_nor_false_and_is_named",
        "tests/cases/test_conditions.py::test_what_is_no_bool_is_never_stored_as_one",
        "tests/cases/test_conditions.py::test_only_the_bool_true_is_true",
        "tests/cases/test_conditions.py::test_a_name_that_is_not_declared_is_an_error_of_the_source",
    ),
    "S-CND-2": (
        "tests/cases/test_conditions.py::test_text_around_an_expression_is_an_error_where_it_stands",
        "tests/cases/test_conditions.py::test_a_guard_that_is_always_true_is_told_with_its_transition",
    ),
    "S-CND-3": ("tests/cases/test_conditions.py::test_an_empty_condition_is_an_error_at_its_edge",),
    "S-CND-4": (
        "tests/cases/test_conditions.py::test_types_that_cannot_be_compared_are_errors_of_the_source",
        "tests/cases/test_conditions.py::test_a_literal_that_no_int_can_hold_is_an_error_and_no_float",
        "tests/cases/test_conditions.py::test_a_variable_beyond_what_every_reader_keeps_exactly_is_refused",
        "tests/cases/test_conditions.py::test_the_largest_int_stays_what_it_is",
        "tests/compiler/predicates/test_guards.py::test_numbers_compare_exactly_and_other_pairs_not_at_all",
        "tests/compiler/predicates/test_guards.py::test_a_number_that_nothing_can_hold_is_no_answer",
    ),
    "S-WRK-1": (
        "tests/cases/test_worker_requests.py::test_a_claim_with_nothing_recorded_moves_nothing_and_stays_a_claim",
        "tests/mcp/test_stdio.py::test_an_agent_works_through_a_flow_with_a_rejection_and_a_restart_of_the_server",
        "tests/runtime/session/test_evidence.py::test_only_what_the_engine_the_host_or_an_operator_recorded_counts",
    ),
    "S-WRK-2": (
        "tests/cases/test_worker_requests.py::test_a_condition_that_cannot_be_met_is_not_judged_for_ever_and_an_operator_sees_that",
        "tests/runtime/engine/test_progress.py::test_after_three_judgements_of_the_same_evidence_the_verifier_is_not_asked_again",
        "tests/runtime/engine/test_progress.py::test_new_evidence_frees_a_held_flow",
    ),
    "S-WRK-3": (
        "tests/cases/test_worker_requests.py::test_a_worker_that_waits_for_a_long_job_is_not_held_and_its_budget_counts",
        "tests/runtime/engine/test_transition.py::test_a_worker_that_waits_for_a_long_job_is_judged_each_time_its_record_grows",
    ),
    "S-WRK-4": (
        "tests/runtime/engine/test_submit.py::test_a_first_input_has_exactly_one_flow_segment",
        "tests/runtime/engine/test_submit.py::test_a_flow_segment_alone_is_enough",
        "tests/runtime/engine/test_submit.py::test_a_flow_segment_inside_a_text_is_text",
        "tests/runtime/engine/test_submit.py::test_an_unknown_flow_is_refused_with_what_to_do",
        "tests/runtime/engine/test_submit.py::test_the_flow_segment_is_replaced_in_place_by_the_instructions_byte_for_byte",
        "tests/runtime/engine/test_transition.py::test_the_verifier_is_asked_with_the_texts_of_the_pinned_definition_byte_for_byte",
        "tests/verifier/test_prompt.py::test_it_holds_the_instructions_and_every_condition_byte_for_byte_in_blocks",
        "tests/verifier/test_prompt.py::test_it_holds_the_instructions_and_every_condition_byte_for_byte_in_blocks",
    ),
    "S-CON-1": (
        "tests/cases/test_concurrency_cases.py::test_requests_at_once_from_many_processes_enter_one_state",
        "tests/runtime/engine/test_concurrency.py::test_two_requests_at_once_make_one_state_entry",
        "tests/runtime/engine/test_concurrency.py::test_fifty_requests_at_once_make_one_state_entry_and_all_are_told_the_same",
        "tests/runtime/engine/test_concurrency.py::test_a_request_overtaken_by_a_move_is_refused_and_not_judged_in_the_next_state",
    ),
    "S-CON-2": (
        "tests/cases/test_concurrency_cases.py::test_a_submission_that_is_repeated_at_once_and_after_a_restart_makes_one_run",
        "tests/runtime/engine/test_submit.py::test_the_stored_fingerprint_holds_nothing_of_the_input",
    ),
    "S-CON-3": (
        "tests/soak/test_soak.py::test_many_workers_in_many_processes_on_one_store_lose_nothing",
        "tests/soak/test_soak.py::test_many_processes_that_append_to_one_worker_make_one_unbroken_chain",
        "tests/cases/test_concurrency_cases.py::test_processes_that_are_killed_while_others_append_take_nothing_with_them",
        "tests/store/test_processes.py::test_processes_with_a_log_each_and_a_reader_lose_nothing",
        "tests/store/test_processes.py::test_processes_that_save_one_slug_number_its_revisions_without_a_gap_and_are_told_who_was_first",
        "tests/store/test_processes_on_flows.py::test_whatever_is_saved_removed_and_brought_at_once_is_all_there_once",
        "tests/store/test_processes_on_flows.py::test_of_processes_that_bring_the_same_flows_at_once_one_does",
        "tests/store/test_processes_on_flows.py::test_two_workspaces_that_take_in_the_same_definitions_in_another_order_both_do",
    ),
    "S-CON-4": (
        "tests/runtime/engine/test_leases.py::test_a_stalled_holder_is_refused_by_its_token_whatever_it_calls_itself",
        "tests/contracts/leases.py::test_a_holder_that_slept_past_its_expiry_is_refused_by_its_token_under_the_same_name",
    ),
    "S-JUD-1": (
        "tests/verifier/test_judge_cases.py::test_a_reply_out_of_form_is_asked_for_again_a_bounded_number_of_times_and_then_could_not_be_checked",
        "tests/verifier/test_judge_cases.py::test_prose_is_a_failed_verification_however_clear_it_is",
        "tests/verifier/test_judge_cases.py::test_met_with_a_reason_of_one_letter_is_refused_for_lack_of_citations_and_then_could_not_be_checked",
        "tests/verifier/test_finish.py::test_a_call_that_cannot_be_a_result_is_refused_with_the_reason",
        "tests/verifier/test_adversarial_judge.py::test_a_met_with_a_bad_citation_moves_nothing",
    ),
    "S-JUD-2": (
        "tests/verifier/test_judge_cases.py::test_a_reply_out_of_form_is_asked_for_again_a_bounded_number_of_times_and_then_could_not_be_checked",
        "tests/verifier/test_judge_cases.py::test_the_model_is_told_which_transitions_there_are_when_it_names_another",
        "tests/verifier/test_finish.py::test_a_call_that_cannot_be_a_result_is_refused_with_the_reason",
    ),
    "S-JUD-3": (
        "tests/verifier/test_judge_cases.py::test_a_verdict_that_contradicts_what_is_said_to_be_missing_is_told_as_inconsistent",
        "tests/verifier/test_finish.py::test_a_call_whose_only_fault_is_that_it_contradicts_itself_is_told_apart",
    ),
    "S-JUD-4": (
        "tests/runtime/test_determinism.py::test_two_conditions_met_are_refused_with_the_same_words_in_every_process",
        "tests/runtime/test_determinism.py::test_the_reason_for_refusing_them_is_in_the_log",
        "tests/verifier/test_adversarial_judge.py::test_ambiguity_is_judged_on_what_was_said_so_breaking_one_citation_lets_no_other_through",
    ),
    "S-EVI-1": (
        "tests/verifier/test_adversarial_judge.py::test_a_masked_status_does_not_satisfy_a_condition_on_an_exit_status",
        "tests/verifier/test_adversarial_judge.py::test_the_status_of_a_plain_command_does",
        "tests/verifier/test_session_view.py::test_a_status_that_may_be_masked_is_marked",
        "tests/verifier/test_masked_status.py::test_a_status_that_may_hide_a_failure_is_marked_with_the_reason",
        "tests/workdir/test_checking.py::test_a_status_that_a_shell_may_mask_does_not_count",
        "tests/workdir/test_checking.py::test_no_shell_reads_its_words",
        "tests/runtime/engine/test_checks_of_attempts.py::test_a_judge_sees_that_the_status_of_a_check_says_nothing",
    ),
    "S-EVI-2": (
        "tests/workdir/test_confinement.py::test_no_path_leads_out",
        "tests/workdir/test_confinement.py::test_a_link_that_stays_inside_works",
        "tests/workdir/test_confinement.py::test_search_and_glob_pass_over_links_and_what_is_outside",
        "tests/workdir/test_checking.py::test_a_program_in_the_folder_of_the_work_is_run_only_where_the_policy_says_so",
    ),
    "S-EVI-3": (
        "tests/workdir/test_hostile_view.py::test_a_pattern_that_would_backtrack_is_answered",
        "tests/workdir/test_hostile_view.py::test_many_searches_in_a_row_leave_no_process_and_no_handle",
        "tests/workdir/test_search.py::test_a_pattern_that_is_none_is_an_ordinary_refusal",
        "tests/workdir/test_checking.py::test_a_check_that_does_not_end_is_killed_at_its_limit_and_says_nothing_of_the_work",
        "tests/workdir/test_checking.py::test_what_a_check_started_is_dead_when_it_is_over",
        "tests/workdir/test_checking.py::test_checks_leave_no_process_and_no_handle",
    ),
    "S-EVI-4": (
        "tests/workdir/test_read.py::test_text_is_text_wherever_a_sample_or_a_bound_cuts_it",
        "tests/workdir/test_read.py::test_another_encoding_is_shown_with_a_notice",
        "tests/workdir/test_read.py::test_a_file_with_zero_bytes_is_named_as_binary",
        "tests/workdir/test_hostile_view.py::test_a_sparse_file_of_5_gb_is_named_as_binary",
        "tests/workdir/test_hostile_view.py::test_a_huge_file_that_begins_as_text_is_paged_and_searched_to_a_bound",
        "tests/workdir/test_confinement.py::test_what_is_no_regular_file_is_refused_without_waiting",
    ),
    "S-SEC-1": (
        "tests/runtime/session/test_masking.py::test_a_value_gives_way_to_its_name",
        "tests/runtime/session/test_masking.py::test_a_value_is_found_behind_the_escapes_of_json_within_json",
        "tests/runtime/session/test_masking.py::test_masking_again_changes_nothing_and_no_value_remains",
        "tests/runtime/session/test_masking.py::test_what_looks_like_a_token_gives_way_though_nobody_named_it",
        "tests/runtime/test_known_secrets.py::test_files_and_variables_named_like_secrets_are_known",
        "tests/runtime/test_known_secrets.py::test_a_secret_in_a_reason_is_neither_stored_nor_told",
        "tests/workdir/test_checking.py::test_a_secret_gives_way_to_its_name",
        "tests/workdir/test_checking.py::test_no_half_of_a_secret_is_kept_where_the_output_is_cut",
        "tests/runtime/engine/test_redaction.py::test_no_entry_holds_the_secret_any_more_and_the_chain_verifies",
        "tests/runtime/engine/test_redaction.py::test_a_redacted_log_is_exported_and_read_as_it_is_now",
    ),
    "S-SEC-2": (
        "tests/verifier/test_judge_cases.py::test_text_that_tells_the_judge_what_to_say_reaches_it_only_inside_of_blocks",
        "tests/verifier/test_prompt.py::test_a_hostile_reason_stays_in_its_block",
        "tests/verifier/test_tools.py::test_a_file_named_like_an_answer_stays_in_its_block",
        "tests/verifier/test_tools.py::test_nothing_that_an_entry_says_stands_outside_of_its_block",
    ),
    "S-SEC-3": (
        "tests/cases/test_log_verify.py::test_each_thing_that_is_done_to_a_store_is_told_apart",
        "tests/store/test_verification_of_stores.py::test_a_cut_tail_is_incomplete_and_not_altered",
        "tests/store/test_verification_of_stores.py::test_a_cut_tail_whose_head_was_put_back_too_is_seen_by_the_witness_alone",
        "tests/store/test_verification_of_stores.py::test_a_missing_beginning_or_middle_is_not_intact",
        "tests/store/test_verification_of_stores.py::test_an_entry_of_another_worker_appended_with_the_head_moved_on_is_named",
        "tests/store/test_verification_of_stores.py::test_an_unsealed_log_says_so_and_is_not_called_wrong",
    ),
    "S-SEC-4": (
        "tests/cases/test_texts_in_logs.py::test_braces_in_any_text_are_those_bytes_everywhere",
        "tests/cases/test_texts_in_logs.py::test_what_worker_verifier_log_and_export_hold_is_what_came_byte_for_byte",
        "tests/verifier/test_prompt.py::test_nothing_in_a_reason_is_looked_up",
        "tests/verifier/test_prompt.py::test_it_holds_the_instructions_and_every_condition_byte_for_byte_in_blocks",
        "tests/verifier/test_prompt.py::test_nothing_in_a_reason_is_looked_up",
    ),
    "S-VER-1": (
        "tests/cases/test_versions.py::test_a_run_goes_on_with_what_it_pinned_whatever_becomes_of_the_flow",
        "tests/cases/test_versions.py::test_nobody_starts_a_run_of_a_flow_that_was_removed_and_the_old_revision_can_be_restored",
    ),
    "S-VER-2": (
        "tests/cases/test_versions.py::test_a_session_whose_definition_or_state_is_not_there_is_refused_by_name_and_nothing_is_written",
        "tests/runtime/engine/test_folding.py::test_a_pinned_definition_that_is_not_there_is_refused_with_flow_digest_and_state",
        "tests/runtime/engine/test_folding.py::test_a_pinned_definition_that_lacks_the_recorded_state_is_refused_with_flow_digest_and_state",
    ),
    "S-VER-3": (
        "tests/cases/test_versions.py::test_a_run_that_an_earlier_version_began_is_gone_on_with_to_its_end",
        "tests/cases/test_versions.py::test_a_newer_store_is_refused_as_newer_whatever_is_done_and_stays_as_it_is",
    ),
    "S-VER-4": (
        "tests/cases/test_versions.py::test_programs_that_open_an_older_store_at_once_all_succeed_and_one_migrates_it",
        "tests/cases/test_versions.py::test_a_command_that_only_looks_migrates_nothing",
    ),
    "S-GRA-1": (
        "tests/cli/test_compile_scenarios.py::test_a_state_that_points_into_the_graph_and_is_reached_by_nothing_is_unreachable",
        "tests/cli/test_compile_scenarios.py::test_a_pair_of_orphans_that_target_each_other_is_two_states",
    ),
    "S-GRA-2": (
        "tests/cli/test_compile_scenarios.py::test_a_ring_without_an_end_is_an_error_that_names_all_of_it",
        "tests/cli/test_compile_scenarios.py::test_a_ring_beside_a_way_out_names_the_ring_and_nothing_else",
    ),
    "S-GRA-3": ("tests/cli/test_compile_scenarios.py::test_a_dangling_target_hides_no_other_fault_and_draws_no_other_after_it",),
    "S-GRA-4": (
        "tests/cli/test_compile_scenarios.py::test_a_state_that_is_entered_in_one_special_way_is_reached",
        "tests/cli/test_compile_scenarios.py::test_without_its_one_way_in_exactly_that_state_is_unreachable",
    ),
    "S-DIA-1": (
        "tests/cli/test_compile_scenarios.py::test_the_key_alone_is_marked_in_a_long_state_and_all_names_that_are_allowed_are_listed",
    ),
    "S-DIA-2": (
        "tests/cli/test_compile_scenarios.py::test_a_missing_semicolon_is_told_at_the_end_of_its_own_line_and_the_rest_is_checked",
    ),
    "S-DIA-3": (
        "tests/cli/test_compile_scenarios.py::test_columns_count_code_points_in_every_form",
        "tests/editor/test_name_requests.py::test_a_state_is_renamed_behind_signs_that_take_two_units",
        "tests/editor/test_name_requests.py::test_a_fault_behind_signs_of_several_units_stands_under_its_field",
    ),
    "S-DIA-4": (
        "tests/cli/test_compile_scenarios.py::test_a_file_of_another_kind_is_one_error",
        "tests/cli/test_compile_scenarios.py::test_a_binary_file_is_one_error",
        "tests/cli/test_compile_scenarios.py::test_a_folder_without_a_flow_is_one_error",
    ),
    "S-SUR-1": (
        "tests/cases/test_surfaces.py::test_the_server_of_an_agent_says_it_at_the_call_and_every_line_of_it_is_the_protocols",
        "tests/cases/test_surfaces.py::test_every_surface_that_reads_says_the_same_remedy_for_a_store_that_needs_migration",
        "tests/cases/test_surfaces.py::test_a_surface_that_writes_brings_the_store_up_and_says_so_on_standard_error",
        "tests/mcp/test_stdio.py::test_nothing_but_the_protocol_is_written_whatever_prints",
        "tests/mcp/test_stdio.py::test_what_cannot_be_served_is_told_at_the_call_and_not_on_the_wire",
        "tests/mcp/test_over_http.py::test_without_the_library_one_line_says_what_to_install",
    ),
    "S-SUR-2": (
        "tests/cases/test_surfaces.py::test_a_server_whose_client_is_killed_ends_with_what_it_verifies_and_its_attempt_is_gone_on_with",
        "tests/cases/test_surfaces.py::test_a_server_that_is_told_to_end_while_it_verifies_leaves_no_process_and_no_half_of_an_event",
        "tests/mcp/test_stdio.py::test_a_server_whose_input_is_at_its_end_ends",
        "tests/mcp/test_stdio.py::test_a_server_ends_while_it_verifies_and_the_attempt_is_gone_on_with",
    ),
    "S-SUR-3": (
        "tests/mcp/test_over_http.py::test_the_rules_find_what_strict_clients_reject",
        "tests/mcp/test_over_http.py::test_an_agent_works_through_a_flow_over_http_and_its_token_says_which_worker_it_is",
    ),
    "S-SUR-4": ("tests/mcp/test_over_http.py::test_a_request_of_a_foreign_name_page_or_token_is_turned_away_before_any_work",),
    "S-SUR-5": (
        "tests/mcp/test_stdio.py::test_a_verification_longer_than_the_wait_answers_and_goes_on_with_the_next_call",
        "tests/mcp/test_client_limits.py::test_a_check_far_longer_than_the_limit_of_a_client_is_answered_within_it_and_ends_in_the_transition",
        "tests/mcp/test_client_limits.py::test_a_client_whose_limit_passes_first_gives_up_and_its_next_call_goes_on_with_what_is_judged_once",
        "tests/mcp/test_stdio.py::test_a_call_that_is_cancelled_stops_the_verification_and_that_is_logged",
        "tests/mcp/test_over_http.py::test_over_http_progress_is_told_and_a_call_that_is_cancelled_stops_the_verification",
    ),
}
"""The tests of each scenario; the first is the one that tells it whole."""
